// The verbs on turns, and on the runs that execute them.
import { type AcceptParts, makeAcceptTurn } from './accepting/accept-turn.ts';
import { type AwaitParts, makeAwaitResult } from './await-result.ts';
import { type CountParts, makeCountTokens } from './count-tokens.ts';
import { makeExplainRun } from './explain.ts';
import { type ExportParts, makeExportRun } from './exports/export-run.ts';
import { makeFetchImages } from './accepting/fetch-images.ts';
import { makeGetModelName, type ModelNameParts } from './model-name.ts';
import { makePollRate } from './poll-rate.ts';
import { makeGetQueue, type QueueOperationParts } from './queue.ts';
import { makeResponseOperations, type ResponseOperationParts } from './responses.ts';
import { makeRunOperations, type RunOperationParts } from './runs.ts';
import { makeTaskOperations, type TaskOperationParts } from './tasks.ts';

export type TurnParts = Omit<AcceptParts, 'fetchImages'> &
  AwaitParts &
  CountParts &
  ExportParts &
  ModelNameParts &
  QueueOperationParts &
  Omit<RunOperationParts, 'countPoll'> &
  Omit<ResponseOperationParts, 'countPoll'> &
  Omit<TaskOperationParts, 'countPoll'>;

export function makeTurnVerbs(parts: TurnParts) {
  const { clock, settings, draining } = parts;
  const countPoll = makePollRate({ clock, perSecond: () => settings().background.pollsPerSecond });
  return {
    ...makeRunOperations({ ...parts, countPoll }),
    ...makeResponseOperations({ ...parts, countPoll }),
    ...makeTaskOperations({ ...parts, countPoll }),
    explainRun: makeExplainRun(parts),
    exportRun: makeExportRun(parts),
    getQueue: makeGetQueue(parts),
    getModelName: makeGetModelName(parts),
    acceptTurn: makeAcceptTurn({ ...parts, fetchImages: makeFetchImages({ settings, ending: draining }) }),
    awaitResult: makeAwaitResult(parts),
    countTokens: makeCountTokens(parts),
  };
}
