// What a turn would come to in tokens, without being accepted: the estimate that its stream would begin with.
import type { KeyCaller } from '../../domain/people/user.ts';
import { quotedHistory } from '../../domain/sessions/continued/quoted-history.ts';
import type { Store } from '../../store/open-store.ts';
import type { Access } from '../access.ts';
import { type ContinuedParts, makeContinuedSession } from './accepting/continued-session.ts';
import type { TurnInput } from './turn.ts';

export interface CountParts extends ContinuedParts {
  readonly access: Pick<Access, 'session' | 'response'>;
  readonly store: ContinuedParts['store'] & { readonly runs: Pick<Store['runs'], 'estimatePrompt'> };
}

/** Makes the verb. Throws `not_found` or `forbidden` for a session that is not the key's. */
export function makeCountTokens(parts: CountParts) {
  const continuedSession = makeContinuedSession(parts);
  return async (caller: KeyCaller, asked: TurnInput): Promise<number> => {
    const { sessionId, afterRunSeq, quoted } = await continuedSession(caller, asked);
    const session = sessionId === null ? null : await parts.access.session(caller, sessionId);
    const content = [...quotedHistory(quoted), ...asked.content];
    return parts.store.runs.estimatePrompt({
      keySeq: caller.key.seq,
      sessionSeq: session?.seq ?? null,
      afterRun: afterRunSeq ?? undefined,
      characters: content.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0),
    });
  };
}
