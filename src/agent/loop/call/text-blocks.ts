// The text blocks of a run's stream: opened by the first text, closed by whatever follows.
import type { Channel } from '../../port/signals.ts';

export interface TextBlocks {
  /** Streams text; opens a block when none is open. */
  write(text: string): void;
  /** Closes the open block, if any. */
  close(): void;
}

/** Blocks are numbered from `firstIndex`, over the whole run. */
export function makeTextBlocks(channel: Pick<Channel, 'send'>, firstIndex: number): TextBlocks {
  let next = firstIndex;
  let open: number | null = null;
  /** The first half of a surrogate pair that the server split. */
  let half = '';
  const send = (text: string) => {
    if (open === null) {
      open = next;
      next += 1;
      channel.send({ t: 'block-start', index: open });
    }
    channel.send({ t: 'text', index: open, text });
  };
  return {
    write: (delta) => {
      const text = half + delta;
      half = /[\uD800-\uDBFF]$/.test(text) ? text.slice(-1) : '';
      const whole = half === '' ? text : text.slice(0, -1);
      if (whole !== '') send(whole);
    },
    close: () => {
      half = '';
      if (open === null) return;
      channel.send({ t: 'block-stop', index: open });
      open = null;
    },
  };
}
