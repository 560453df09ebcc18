// Everything that is checked of a data directory after its daemon has ended, by promise.
import { type Finding, PROMISES, type PromiseName } from '../promises.ts';
import type { Piece } from '../work/load.ts';
import { checkArtifacts } from './artifacts.ts';
import { databaseOf, readStoredFacts } from './journal-rows.ts';
import { ledgerFaults } from './ledger-faults.ts';
import { checkPieces } from './pieces.ts';
import { checkRuns } from './runs.ts';
import { placesOf } from './stored-blobs.ts';

/** Checks what a storm has left; one finding for each promise. */
export async function checkLeftBehind(dataDir: string, pieces: readonly Piece[]): Promise<Finding[]> {
  const file = databaseOf({ dataDir });
  const facts = readStoredFacts(file);
  return united([
    ...checkPieces(dataDir, pieces, facts.records),
    ...checkRuns(facts),
    { promise: 'ledger', checked: facts.records.length, problems: ledgerFaults(file) },
    { promise: 'files', ...(await checkArtifacts(placesOf(dataDir), file)) },
  ]);
}

/** In the order of the promises. What the first finding of a promise counts is what people are shown. */
function united(findings: readonly Finding[]): Finding[] {
  const byPromise = Map.groupBy(findings, ({ promise }) => promise);
  return (Object.keys(PROMISES) as PromiseName[]).flatMap((promise) => {
    const of = byPromise.get(promise);
    return of === undefined
      ? []
      : [{ promise, checked: of[0]!.checked, problems: of.flatMap(({ problems }) => problems) }];
  });
}
