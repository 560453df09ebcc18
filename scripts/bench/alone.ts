// The cases of what only errand does, by part.
import { measureBackups } from './cases/backups.ts';
import { measureBudgets } from './cases/budgets.ts';
import { measureFiles } from './cases/files.ts';
import { measureHistory } from './cases/history.ts';
import { measureOffice } from './cases/office/office.ts';
import { measurePackage } from './cases/package.ts';
import { measureNodes } from './cases/nodes.ts';
import { measurePostgres } from './cases/postgres.ts';
import { measureProtocols } from './cases/protocols.ts';
import { measureProfile } from './cases/profile.ts';
import { measureRetention } from './cases/retention.ts';
import { measureSchedules } from './cases/schedules.ts';
import { measureShares } from './cases/shares.ts';
import { measureStorm } from './cases/storm/storm.ts';
import { measureTelemetry } from './cases/telemetry.ts';
import { measureTools } from './cases/tools.ts';
import type { Figures, Scale } from './cases/scale.ts';
import { measureView } from './cases/office/view.ts';
import { measureWatchedRuns } from './cases/office/watched-runs.ts';
import { measureWatchers } from './cases/office/watchers.ts';
import { measureBacklogs } from './cases/webhooks/webhook-backlog.ts';
import { measureWebhooks } from './cases/webhooks/webhooks.ts';

/** What every case gets; it adds its failures. */
export interface CaseParts {
  /** Base address of the scripted model server. */
  readonly modelUrl: string;
  readonly scratch: string;
  readonly scale: Scale;
  readonly failures: string[];
  say(text: string): void;
}

interface Case {
  readonly part: string;
  /** Completes "measuring …". */
  readonly what: string;
  measure(parts: CaseParts): Promise<Figures>;
}

/** In the order in which they are measured. */
export const CASES = [
  { part: 'history', what: 'long conversations', measure: (p) => measureHistory(p.modelUrl, p.scale, p.failures) },
  { part: 'office', what: 'the reads of Office Mode', measure: (p) => measureOffice(p, p.scale, p.failures) },
  { part: 'files', what: 'files', measure: (p) => measureFiles(p.scratch, p.scale, p.say) },
  {
    part: 'watchers',
    what: 'watchers',
    measure: (p) => measureWatchers(p.modelUrl, p.scratch, p.scale.watchMs, p.say),
  },
  {
    part: 'watchers',
    what: 'runs that are watched',
    measure: (p) => measureWatchedRuns(p, p.scale.loadMs, p.failures),
  },
  { part: 'view', what: 'the terminal view', measure: (p) => measureView(p.scratch, p.scale.viewMs, p.say) },
  { part: 'webhooks', what: 'webhooks', measure: (p) => measureWebhooks(p, p.scale, p.failures) },
  { part: 'webhooks', what: 'webhooks that wait', measure: (p) => measureBacklogs(p, p.scale, p.failures) },
  { part: 'shares', what: 'published pages', measure: (p) => measureShares(p, p.scale, p.failures) },
  { part: 'schedules', what: 'scheduled tasks', measure: (p) => measureSchedules(p, p.scale, p.failures) },
  { part: 'package', what: 'the single executable', measure: (p) => measurePackage(p.scratch, p.say) },
  { part: 'retention', what: 'what is removed by age', measure: (p) => measureRetention(p, p.scale) },
  { part: 'backup', what: 'backups', measure: (p) => measureBackups(p, p.scale.loadMs) },
  { part: 'telemetry', what: 'metrics and traces', measure: (p) => measureTelemetry(p, p.scale, p.failures) },
  { part: 'protocols', what: 'protocols side by side', measure: (p) => measureProtocols(p, p.scale, p.failures) },
  { part: 'budgets', what: 'budgets', measure: (p) => measureBudgets(p, p.scale, p.failures) },
  { part: 'postgres', what: 'the store on PostgreSQL', measure: measurePostgres },
  { part: 'nodes', what: 'several daemons on one database', measure: measureNodes },
  { part: 'storm', what: 'the worst inputs together', measure: measureStorm },
  { part: 'profile', what: 'where the time of a run goes', measure: measureProfile },
  { part: 'tools', what: 'tools', measure: (p) => measureTools(p.scratch, p.scale, p.say) },
] as const satisfies readonly Case[];
