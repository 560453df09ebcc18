// Finds the one id that begins with a prefix, so that people need not copy whole ids.
import { ErrandError, notFound, unprocessable } from '../domain/errors.ts';
import { type IdNoun, isIdStart } from '../domain/ids.ts';
import type { Administrator } from '../domain/people/user.ts';
import type { Store } from '../store/open-store.ts';

/** Singular and plural of each noun, for messages. */
const WORDS: Readonly<Record<IdNoun, readonly [one: string, several: string]>> = {
  sessions: ['Session', 'sessions'],
  runs: ['Run', 'runs'],
  'user-inputs': ['Question', 'questions'],
  insights: ['Insight', 'insights'],
  connections: ['Connection', 'connections'],
  'scheduled-tasks': ['Scheduled task', 'scheduled tasks'],
  users: ['User', 'users'],
  teams: ['Team', 'teams'],
  budgets: ['Budget', 'budgets'],
  nodes: ['Node', 'nodes'],
};

/** Maximum number of candidates that an error names. */
const NAMED = 5;

/**
 * The verb. Users, teams and nodes are also found by name, which comes first. Throws `not_found`; `conflict` with the candidates
 * when several ids match; `unprocessable` for what can't be the prefix of an id.
 */
export function makeFindId(store: Pick<Store, 'findIds' | 'users' | 'teams' | 'nodes'>) {
  return async (_caller: Administrator, noun: IdNoun, text: string): Promise<string> => {
    const named = await findNamed(store, noun, text);
    if (named !== undefined) return named;
    if (!isIdStart(text)) throw unprocessable('start', 'must be at least the first 4 characters of an id');
    const [one, several] = WORDS[noun];
    const start = text.toLowerCase();
    const ids = await store.findIds(noun, start, NAMED + 1);
    const [id] = ids;
    if (id === undefined) throw notFound(one);
    if (ids.length === 1) return id;
    const candidates = `${ids.slice(0, NAMED).join(', ')}${ids.length > NAMED ? ' and more' : ''}`;
    throw new ErrandError('conflict', `Several ${several} have an id that begins with ${start}: ${candidates}.`);
  };
}

async function findNamed(
  { users, teams, nodes }: Pick<Store, 'users' | 'teams' | 'nodes'>,
  noun: IdNoun,
  text: string,
): Promise<string | undefined> {
  if (noun === 'nodes') {
    const named = (await nodes.list()).filter(({ name }) => name === text);
    return named.length === 1 ? named[0]!.id : undefined;
  }
  if (noun !== 'users' && noun !== 'teams') return undefined;
  try {
    return (await (noun === 'users' ? users.get(text) : teams.get(text))).id;
  } catch (error) {
    if (error instanceof ErrandError && error.reason === 'not_found') return undefined;
    throw error;
  }
}
