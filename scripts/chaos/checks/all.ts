// Every check of what a storm has left, once nobody writes any more.
import { checkArtifacts } from '../../../src/selftest/checks/artifacts.ts';
import { databaseOf, type StoredFacts } from '../../../src/selftest/checks/journal-rows.ts';
import { ledgerFaults } from '../../../src/selftest/checks/ledger-faults.ts';
import { checkRuns } from '../../../src/selftest/checks/runs.ts';
import { checkBackground } from '../../../test/support/daemon/background-load.ts';
import type { AuditLine } from '../model/audit.ts';
import type { Storming, Weathered } from '../weather.ts';
import { checkFaults } from './faults.ts';
import { checkAcceptance, checkReplays } from './observations.ts';
import { checkResults } from './results.ts';
import { withoutScheduled } from './schedules.ts';
import { checkAudit, checkDisk, checkPlans } from './traces.ts';
import { checkWebhooks } from './webhooks.ts';

/** Returns every violation in words; none when all is well. `audit`: what the model was shown. */
export async function checkAll(
  { subject, rules }: Storming,
  weathered: Weathered,
  facts: StoredFacts,
  audit: readonly AuditLine[],
): Promise<string[]> {
  const { observations, replays, submissions, storm } = weathered;
  const { diary } = storm;
  const places = subject.places(diary);
  const file = databaseOf(subject);
  const asked = withoutScheduled(facts);
  const clients =
    submissions === null
      ? [...checkAcceptance(observations, asked, weathered.ended), ...checkReplays(replays, observations, asked)]
      : checkBackground(submissions, subject);
  return [
    ...weathered.problems,
    ...checkRuns(facts).flatMap(({ problems }) => problems),
    ...checkWebhooks(weathered.hooks, facts, file),
    ...ledgerFaults(file),
    ...checkFaults({ rules, facts, observations, diary }),
    ...checkPlans(rules, facts),
    ...clients,
    ...checkAudit(audit, facts),
    ...(await checkDisk(rules, places, facts, file)),
    ...(await checkArtifacts(places, file)).problems,
    ...checkResults(weathered, places, facts, file),
    ...subject.checkLeft(diary),
  ];
}
