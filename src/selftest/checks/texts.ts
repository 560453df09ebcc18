// A text is stored in its step and in its stream, and nowhere else; both are equal. Text that isn't part of any reply is
// listed, to be erased a day later.
import type { RunRecord } from './journal-rows.ts';

/** Shorter texts may occur in a step's message by chance. */
const TELLING_CHARACTERS = 8;

/** What was streamed is what its steps keep. Returns every violation in words. */
export function checkStream({ run, events, steps, discarded }: RunRecord): string[] {
  const problems: string[] = [];
  const isDiscarded = (at: number) =>
    discarded.some(({ from_stream_seq: from, to_stream_seq: to }) => from < at && at <= to);
  let streamed = '';
  for (const { type, payload, stream_seq } of events) {
    if (type === 'content_block_delta' && !isDiscarded(stream_seq))
      streamed += (JSON.parse(payload) as { text: string }).text;
    if (type !== 'run.step') continue;
    const { step } = JSON.parse(payload) as { step: number };
    const kept = steps.find((one) => one.step === step)?.text;
    if (kept !== streamed) problems.push(`step ${step} keeps "${kept}", and "${streamed}" was streamed`);
    streamed = '';
  }
  // The user has read what they stopped: it stays.
  if (streamed !== '' && run.status !== 'canceled') problems.push(`"${streamed}" is part of no reply, and stays`);
  return problems;
}

/** Returns every text that is stored twice, in words. */
export function checkCopies({ run, steps, messages }: RunRecord): string[] {
  const isTwice = (text: string, message: string) =>
    text.length >= TELLING_CHARACTERS && message.includes(JSON.stringify(text).slice(1, -1));
  return [
    ...(run.own_answer === null ? [] : ['its answer is stored in addition to its last step']),
    ...(messages.every(({ role, content }) => role === 'user' || content === '')
      ? []
      : ['its message holds its steps']),
    ...steps.flatMap(({ step, text, message }) =>
      isTwice(text, message) ? [`the message of step ${step} holds its text`] : [],
    ),
  ];
}
