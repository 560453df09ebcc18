// What the tools of a run may request from the main thread.
import type { ServiceName, Services } from '../agent/port/services.ts';
import type { Halt } from '../domain/halt.ts';
import type { Fence } from '../store/runs/fence.ts';

/** The requesting run. */
export interface ServedRun extends Fence {
  readonly runId: string;
  readonly sessionId: string;
  readonly userSeq: number;
  /** Comes with its end, or when it is called off. */
  readonly off: Halt;
}

/** The services by name. Each throws ErrandError with a message that the model can act on. */
export type RunServices = {
  readonly [S in ServiceName]: (run: ServedRun, input: Services[S]['input']) => Promise<Services[S]['output']>;
};
