// What the tools of a run may ask the main thread to do.
import type { ServiceName, Services } from '../../agent/port/protocol.ts';
import type { Fence } from '../../store/runs/record-progress.ts';

/** The run that asks. */
export interface ServedRun extends Fence {
  readonly runId: string;
  readonly sessionId: string;
}

/** The services by name. Each throws ErrandError with words that the model can act on. */
export type RunServices = {
  readonly [S in ServiceName]: (run: ServedRun, input: Services[S]['input']) => Promise<Services[S]['output']>;
};
