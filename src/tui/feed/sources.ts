// What is read of a session besides its events, one source for each: the newest of it, and its past page by page.
import type { OfficeMessagesWire, RunRoundsWire } from '../../wire/office/session.ts';
import { HEADING } from '../state/desk-row.ts';
import { type Page, type Pages, withNewest, withOlder } from './pages.ts';
import type { Reads } from './reads.ts';

/** Reads what a tab shows, given what was read before. Throws ClientError. */
export type Read = (client: Reads, sessionId: string, known: unknown) => Promise<unknown>;

/** Where a tab reads what events don't have. Tabs may share one. */
export interface Source {
  /** What it read is kept under this name. */
  readonly name: string;
  /** The newest of it, or all there is. */
  readonly read: Read;
  /** A page of the past before what is known. */
  readonly readOlder?: Read;
  /** Whether an event of this type changes what it shows. */
  readonly changesWith: (type: string) => boolean;
}

/** So many at once: one round or message may be large. */
const PAGE = 50;

/** Events that come by the thousand and change nothing that is read. */
const changesReads = (type: string) => !type.startsWith('content_block');

type Round = RunRoundsWire['items'][number];

/** The rounds that were read, ascending. */
export type Rounds = Pages<Round>;

async function readRounds(client: Reads, sessionId: string, end: number): Promise<Page<Round>> {
  const offset = Math.max(0, end - PAGE);
  if (end <= 0) return { items: [], hasOlder: false };
  const { items } = await client.office.rounds(sessionId, { limit: end - offset, offset });
  return { items, hasOlder: offset > 0 };
}

/** Beyond the last round there is only their number. */
async function countRounds(client: Reads, sessionId: string): Promise<number> {
  return (await client.office.rounds(sessionId, { limit: 1, offset: Number.MAX_SAFE_INTEGER })).total;
}

export const roundSource: Source = {
  name: 'rounds',
  read: async (client, sessionId, known) => {
    const page = await readRounds(client, sessionId, await countRounds(client, sessionId));
    return withNewest(known as Rounds | undefined, page, (round) => round.round_no);
  },
  readOlder: async (client, sessionId, known) => {
    const pages = known as Rounds;
    return withOlder(pages, await readRounds(client, sessionId, (pages.items[0]?.round_no ?? 1) - 1));
  },
  changesWith: changesReads,
};

type Message = OfficeMessagesWire['items'][number];

/** The messages that were read, ascending. */
export type Messages = Pages<Message>;

async function readMessages(client: Reads, sessionId: string, before?: Message): Promise<Page<Message>> {
  const query = { limit: PAGE, ...(before !== undefined && { before_id: before.id }) };
  const { items, has_more: hasOlder } = await client.office.messages(sessionId, query);
  return { items, hasOlder };
}

export const messageSource: Source = {
  name: 'messages',
  read: async (client, sessionId, known) =>
    withNewest(known as Messages | undefined, await readMessages(client, sessionId), ({ id }) => id),
  readOlder: async (client, sessionId, known) => {
    const pages = known as Messages;
    return withOlder(pages, await readMessages(client, sessionId, pages.items[0]));
  },
  changesWith: changesReads,
};

export const fileSource: Source = {
  name: 'files',
  read: (client, sessionId) => client.office.files(sessionId),
  changesWith: (type) => /^(artifacts|workspace_export|run)\./.test(type),
};

export const contextSource: Source = {
  name: 'context',
  read: (client, sessionId) => client.office.contextUsage(sessionId),
  changesWith: changesReads,
};

export const summarySource: Source = {
  name: 'summary',
  read: (client, sessionId) => client.office.summary(sessionId),
  changesWith: changesReads,
};

/** The newest run, for the heading of a desk. */
export const headingSource: Source = {
  name: HEADING,
  read: async (client, sessionId) => (await client.office.runs(sessionId, { limit: 1 })).items,
  changesWith: (type) => type.startsWith('run.'),
};
