// Which session a turn continues (M1).
import { ErrandError } from '../../domain/errors.ts';
import type { KeyCaller } from '../../domain/people/user.ts';
import type { Log } from '../../log/log.ts';
import type { Access } from '../access.ts';
import type { TurnInput } from './turn.ts';

export interface ContinuedParts {
  readonly access: Pick<Access, 'session'>;
  readonly log: Log;
}

/** How many keys are remembered whose requests were logged. */
const MOST_LOGGED = 10_000;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Makes the look-up of the session that a turn continues which names none; null opens one. */
export function makeContinuedSession({ access, log }: ContinuedParts) {
  const logged = new Set<number>();

  /** Other programs use the name of its header for ids of their own. */
  async function ownOf(caller: KeyCaller, offered: string): Promise<string | null> {
    const session = UUID.test(offered) ? await access.session(caller, offered).catch(nullUnlessFault) : null;
    if (session === null && !logged.has(caller.key.seq)) {
      if (logged.size >= MOST_LOGGED) logged.clear();
      logged.add(caller.key.seq);
      log.info({ key: caller.key.id }, NONE_OF_OURS);
    }
    return session?.id ?? null;
  }

  return async (caller: KeyCaller, { offeredSession }: Pick<TurnInput, 'offeredSession'>): Promise<string | null> =>
    offeredSession === null ? null : ownOf(caller, offeredSession);
}

const NONE_OF_OURS =
  'X-Session-Id named no session of this key, and was ignored; Errand-Session-Id and metadata.session_id continue one';

function nullUnlessFault(error: unknown): null {
  if (error instanceof ErrandError && (error.reason === 'not_found' || error.reason === 'forbidden')) return null;
  throw error;
}
