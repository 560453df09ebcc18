// The history of a session in portions: as many small messages as fit into one, and of a long run step by step.
import type { Attachment } from '../../domain/sessions/content.ts';
import { type Portion, PORTION_BYTES, type Portions } from '../../domain/portions.ts';
import type { StoredBlock } from '../../store/runs/replies.ts';
import type { MessageFacts, MessageOfRun, MessageSize, StepSize } from '../../store/sessions/history.ts';
import type { Store } from '../../store/open-store.ts';

/** What an agent said and did in a run that fills more than a portion. */
export interface LongReply extends MessageFacts {
  readonly role: 'assistant';
  readonly replies: Portions<StoredBlock>;
}

/** What a user said that fills more than a portion. `blocks`: `UserBlock[]` as it is stored, JSON in UTF-8. */
export interface LongQuestion extends MessageFacts {
  readonly role: 'user';
  readonly blocks: Buffer;
  readonly attachments: readonly Attachment[];
}

export type HistoryMessage = MessageOfRun | LongReply | LongQuestion;

type History = Store['history'];

/** Steps that are measured at once. */
const MEASURED_STEPS = 50;

/** The whole history of a session, oldest first. */
export async function* historyOf(history: History, sessionSeq: number): Portions<HistoryMessage> {
  let last = 0;
  for (;;) {
    const sizes = await history.listSizesAfter(sessionSeq, last);
    if (sizes.length === 0) return;
    yield* messagesIn(history, sessionSeq, sizes);
    last = sizes.at(-1)!.id;
  }
}

/** The messages of these sizes, which follow each other in a session. */
export function* messagesIn(
  history: History,
  sessionSeq: number,
  sizes: readonly MessageSize[],
): Iterable<Portion<HistoryMessage>> {
  for (const group of groupsOf(sizes)) {
    const [first] = group;
    if (first!.bytes > PORTION_BYTES && (first!.isInSteps || first!.role === 'user'))
      yield longMessage(history, first!);
    else {
      const [from, to] = [first!.id, group.at(-1)!.id];
      yield { bytes: bytesOf(group), read: async () => history.listMessages(sessionSeq, from, to) };
    }
  }
}

function longMessage(history: History, { id, runSeq, bytes, isInSteps }: MessageSize): Portion<HistoryMessage> {
  const { getMessageFacts, getUserContent, listAttachments } = history;
  if (isInSteps) {
    const replies = repliesOf(history, runSeq);
    return { bytes: PORTION_BYTES, read: async () => [{ ...(await getMessageFacts(id)), role: 'assistant', replies }] };
  }
  const content = async () => ({ blocks: await getUserContent(id), attachments: await listAttachments(id) });
  const read = async (): Promise<[LongQuestion]> => [
    { ...(await getMessageFacts(id)), role: 'user', ...(await content()) },
  ];
  return { bytes, read };
}

async function* repliesOf(history: History, runSeq: number): Portions<StoredBlock> {
  for await (const group of stepsOf(history, runSeq)) {
    const read = async () => {
      const blocks: StoredBlock[] = [];
      for (const { step } of group) blocks.push(...(await history.getReply(runSeq, step)));
      return blocks;
    };
    yield { bytes: bytesOf(group), read };
  }
}

/** The steps of a run in groups that are read together. */
export async function* stepsOf(
  history: Pick<History, 'listStepSizes'>,
  runSeq: number,
): AsyncIterable<readonly StepSize[]> {
  let last = 0;
  for (;;) {
    const sizes = await history.listStepSizes(runSeq, last, MEASURED_STEPS);
    if (sizes.length === 0) return;
    yield* groupsOf(sizes);
    last = sizes.at(-1)!.step;
  }
}

interface Sized {
  readonly bytes: number;
}

const bytesOf = (sizes: readonly Sized[]) => sizes.reduce((sum, { bytes }) => sum + bytes, 0);

/** In order: what is too large for one portion is alone. */
function* groupsOf<T extends Sized>(sizes: readonly T[]): Iterable<readonly T[]> {
  let group: T[] = [];
  for (const size of sizes) {
    if (group.length > 0 && bytesOf(group) + size.bytes > PORTION_BYTES) {
      yield group;
      group = [];
    }
    group.push(size);
  }
  if (group.length > 0) yield group;
}
