// The worker's end of a run's channel: signals out, control in.
import { ErrandError } from '../../domain/errors.ts';
import { HALTED, type Halt, makeHalt } from '../../domain/halt.ts';
import type { Control, Outcome, Signal } from './protocol.ts';
import type { ServiceName, ServiceRequest, Services } from './services.ts';
import type { RunPort } from './serve-runs.ts';

/** The longest that a commit waits for its ack: well beyond what the baseline of a workspace may take. */
const ACK_TIMEOUT_MS = 300_000;
/** Why a run ends whose commits are not acknowledged; it is executed again. */
const UNACKNOWLEDGED: Stop = { kind: 'canceled', reason: 'unacknowledged' };

const NO_BUDGETS = new Int32Array(1);

type Committed = Extract<Signal, { readonly ack: number }>;
type WithoutAck<S> = S extends unknown ? Omit<S, 'ack'> : never;

/** Why a run has to end before its agent is done. */
export type Stop = { readonly kind: 'canceled'; readonly reason: string } | { readonly kind: 'run-timeout' };

/** A run's channel to the main thread. */
export interface Channel {
  /** Comes when the run has to end; `stopped()` then says why. */
  readonly halt: Halt;
  stopped(): Stop | null;
  stop(reason: Stop): void;
  send(signal: Exclude<Signal, Committed>): void;
  /** Sends a signal for the journal. The promise resolves with its ack and rejects when the run is stopped. */
  commit(signal: WithoutAck<Committed>): Promise<void>;
  /** Requests a permit for one call of a model, by the catalog's name, and waits for it. Rejects when the run is stopped. */
  takePermit(model: string): Promise<void>;
  returnPermit(): void;
  /** Whether there may be budgets, so that each model call has to ask. It changes while a run is in progress. */
  hasBudgets(): boolean;
  /** Sets whether the run only waits for its model; the main thread reads this when the thread has died. */
  waits(isWaiting: boolean): void;
  /**
   * Requests a service of the main thread. Throws ErrandError with a message for the model; rejects when the run is stopped.
   */
  request<S extends ServiceName>(service: S, input: Services[S]['input']): Promise<Services[S]['output']>;
  /** Sends `done` and receives nothing more. */
  finish(outcome: Outcome, untouched: boolean): void;
}

interface ChannelOptions {
  readonly ackTimeoutMs?: number;
  /** Where `waits` is stored, see `Start`. */
  readonly waiting?: Int32Array;
  /** What `hasBudgets` reads, see `ThreadTask`. */
  readonly budgets?: Int32Array;
}

/** Opens the worker's end of a run's channel. The run is stopped when the main thread closes the port, and when an ack does not arrive. */
export function openChannel(port: RunPort, options: ChannelOptions = {}): Channel {
  const { ackTimeoutMs = ACK_TIMEOUT_MS, waiting = new Int32Array(1), budgets = NO_BUDGETS } = options;
  const halt = makeHalt();
  const { send } = port;
  const permits = makePermits(send, halt);
  const answers = makeAnswers(halt);
  let reason: Stop | null = null;

  const stop = (why: Stop) => {
    reason ??= why;
    halt.halt();
  };
  const receive = (control: Control): void => {
    switch (control.t) {
      case 'ack':
        return answers.give(control.ack, undefined);
      case 'permit':
        return permits.granted();
      case 'reply':
        return answers.give(control.request, control.reply);
      case 'abort':
        return stop({ kind: 'canceled', reason: control.reason });
      default:
        return control satisfies never;
    }
  };
  port.listen(receive, () => stop({ kind: 'canceled', reason: 'closed' }));

  return {
    halt,
    stopped: () => reason,
    stop,
    send,
    commit: makeCommit(send, answers, { afterMs: ackTimeoutMs, lost: () => stop(UNACKNOWLEDGED) }),
    takePermit: permits.take,
    returnPermit: permits.giveBack,
    hasBudgets: () => Atomics.load(budgets, 0) === 1,
    waits: (isWaiting) => void Atomics.store(waiting, 0, Number(isWaiting)),
    request: makeRequest(send, answers),
    finish: (outcome, untouched) => {
      send({ t: 'done', outcome, untouched });
      port.close();
    },
  };
}

interface Answers {
  /** Waits for an answer, under the number that it returns. Rejects when the run is stopped. */
  expect<T>(): { readonly number: number; readonly answer: Promise<T> };
  give(number: number, answer: unknown): void;
}

/** What the main thread was asked and has not answered yet: acks of commits, and replies to requests. */
function makeAnswers(halt: Halt): Answers {
  const waiting = new Map<number, { resolve(answer: never): void; reject(error: unknown): void }>();
  let last = 0;
  halt.listen(() => {
    for (const { reject } of waiting.values()) reject(HALTED);
    waiting.clear();
  });
  return {
    expect: <T>() => {
      last += 1;
      const number = last;
      const answer = new Promise<T>((resolve, reject) => {
        if (halt.isHalted) reject(HALTED);
        else waiting.set(number, { resolve, reject });
      });
      return { number, answer };
    },
    give: (number, answer) => {
      waiting.get(number)?.resolve(answer as never);
      waiting.delete(number);
    },
  };
}

/** Signals that wait for the journal. An ack that does not arrive within `afterMs` counts as lost. */
function makeCommit(
  send: (signal: Signal) => void,
  answers: Answers,
  late: { readonly afterMs: number; lost(): void },
): Channel['commit'] {
  return async (committed) => {
    const { number: ack, answer } = answers.expect<void>();
    const timer = setTimeout(late.lost, late.afterMs);
    send({ ...committed, ack });
    try {
      await answer;
    } finally {
      clearTimeout(timer);
    }
  };
}

function makeRequest(send: (signal: Signal) => void, answers: Answers): Channel['request'] {
  return async <S extends ServiceName>(service: S, input: Services[S]['input']): Promise<Services[S]['output']> => {
    const { number: request, answer } = answers.expect<Extract<Control, { t: 'reply' }>['reply']>();
    // The types of input and output depend on the service, which a union can't express across a port.
    send({ t: 'request', request, ...({ service, input } as ServiceRequest) });
    const reply = await answer;
    if (!reply.ok) throw new ErrandError('bad_request', reply.message);
    return reply.output as Services[S]['output'];
  };
}

/** The run's permit: each granted one is returned exactly once, even when its request was abandoned. */
function makePermits(send: (signal: Signal) => void, halt: Halt) {
  let held = false;
  let wanted: (() => void) | undefined;
  const giveBack = () => {
    if (!held) return;
    held = false;
    send({ t: 'permit-returned' });
  };
  const granted = () => {
    held = true;
    if (wanted === undefined) giveBack();
    else wanted();
  };
  const take = async (model: string) => {
    const grant = new Promise<void>((resolve) => {
      wanted = resolve;
    });
    send({ t: 'permit-wanted', model });
    try {
      await untilHalted(grant, halt);
    } finally {
      wanted = undefined;
    }
  };
  return { take, granted, giveBack };
}

/** The result of `promise`, unless the halt comes first: then rejects with `HALTED`. */
export function untilHalted<T>(promise: Promise<T>, halt: Halt): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(HALTED);
    // The loser of the race may still fail; its rejection is ignored.
    promise.then(resolve, reject).finally(() => halt.leave(stop));
    halt.listen(stop);
  });
}
