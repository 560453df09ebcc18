// The model of an agent as models.yaml has it: a run that waits for it asks it where it is now, with the key that it has now.
import type { EndpointKind } from '../../../domain/capabilities/model.ts';
import { ErrandError } from '../../../domain/errors.ts';
import { forAnotherModel } from '../../conversation/recorded-message.ts';
import { openModel } from '../../models/open-model.ts';
import type { Channel } from '../../port/signals.ts';
import type { ModelCall } from './model-call.ts';
import type { ModelFailure } from './model-failure.ts';

const MAX_REPORTED = 1_000;
/** Endpoints of which this thread has reported that they answer, by how they are configured. */
const reported = new Set<string>();

export interface CurrentModel {
  kind(): EndpointKind;
  /** A call of the agent, for the model as it is known now. */
  callOf(call: ModelCall): ModelCall;
  /** How long a call that failed is repeated while its model's server is down. Rejects only when the run is stopped. */
  patienceFor(failure: Pick<ModelFailure, 'outcome' | 'isDown'>): Promise<number>;
  /** Reads the configuration. Returns whether another call would be made than before. Rejects only when the run is stopped. */
  refresh(): Promise<boolean>;
  /** It has sent some of a reply. */
  answers(): void;
  /** What administrators do about a failure; empty unless its endpoint may be configured wrongly. */
  adviceOn(failure: Pick<ModelFailure, 'outcome'>): string;
}

/** Makes it for all calls of an agent. Nothing is asked of the main thread before a call has failed. */
export function makeCurrentModel(
  { model: granted, limits }: ModelCall['brief'],
  channel: Pick<Channel, 'send' | 'request'>,
): CurrentModel {
  let grant = granted;
  let model = openModel(grant, limits.connectTimeoutMs);
  /** As far as is known; null until that was asked. */
  let hasAnswered: boolean | null = null;

  /** Null when it isn't configured any more, or that can't be read: then it goes on as it is, with patience. */
  const look = async () => {
    const now = await channel.request('current_model', { model: granted.name }).catch((error: unknown) => {
      if (error instanceof ErrandError) return null;
      throw error;
    });
    if (now === null) hasAnswered = true;
    return now;
  };
  const refresh = async () => {
    const now = await look();
    if (now === null) return false;
    const before = model;
    grant = now.grant;
    hasAnswered = now.hasAnswered;
    model = openModel(grant, limits.connectTimeoutMs);
    return model !== before;
  };
  const isUnproven = ({ outcome }: Pick<ModelFailure, 'outcome'>) => outcome === 'unreachable' && hasAnswered === false;
  return {
    kind: () => grant.kind,
    callOf: (call) => {
      if (grant === call.brief.model) return call;
      const isSame = grant.kind === granted.kind && grant.model === granted.model;
      const messages = isSame ? call.messages : call.messages.map(forAnotherModel);
      return { ...call, brief: { ...call.brief, model: grant }, model, messages };
    },
    patienceFor: async (failure) => {
      const { patienceMs, unprovenPatienceMs } = limits;
      if (failure.outcome === 'unreachable' && hasAnswered !== true) {
        const now = await look();
        if (now?.grant.configured === grant.configured) ({ hasAnswered } = now);
      }
      return failure.isDown && isUnproven(failure) ? Math.min(patienceMs, unprovenPatienceMs) : patienceMs;
    },
    refresh,
    answers: () => {
      hasAnswered = true;
      const { configured } = grant;
      if (reported.has(configured)) return;
      if (reported.size >= MAX_REPORTED) reported.clear();
      reported.add(configured);
      channel.send({ t: 'answered', configured });
    },
    adviceOn: (failure) =>
      isUnproven(failure)
        ? ` It has never answered since it was configured: "errand models check ${granted.name}" says more.`
        : '',
  };
}
