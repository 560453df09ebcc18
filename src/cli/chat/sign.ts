// The sign of life of an agent that is at work, until there is something else to see.
import { paint, wantsColours } from '../../terminal/colours.ts';
import { stopwatch } from '../../terminal/durations.ts';
import type { Io } from '../frame/io.ts';
import type { Output } from '../frame/output.ts';

export interface Sign {
  show(): void;
  remove(): void;
}

interface Terminal {
  readonly write: (text: string) => void;
  readonly colours: boolean;
}

const SECOND_MS = 1_000;

/** A sign on a line of its own, with the seconds that have passed. */
export function makeSign({ write, colours }: Terminal): Sign {
  let timer: NodeJS.Timeout | undefined;
  const draw = (seconds: number) => {
    const words = seconds === 0 ? '…' : `… ${stopwatch(seconds * SECOND_MS)}`;
    write(`\r${colours ? paint(words, 'dim') : words}`);
  };
  const remove = () => {
    if (timer === undefined) return;
    clearInterval(timer);
    timer = undefined;
    write('\r\u001b[K');
  };
  const show = () => {
    remove();
    let seconds = 0;
    draw(seconds);
    timer = setInterval(() => draw((seconds += 1)), SECOND_MS);
    timer.unref();
  };
  return { show, remove };
}

/** On standard error, where that is a terminal. */
export function signOn({ stderr, terminal, environment }: Io): Sign {
  if (!terminal.stderr) return { show() {}, remove() {} };
  return makeSign({ write: (text) => void stderr.write(text), colours: wantsColours(true, environment) });
}

/** The output of an answer, before which the sign goes. */
export function clearing(sign: Sign, out: Output): Output {
  return {
    ...out,
    hint(line) {
      sign.remove();
      out.hint(line);
    },
    json(document) {
      sign.remove();
      out.json(document);
    },
    flowing() {
      const text = out.flowing();
      const add = (piece: string) => {
        if (piece !== '') sign.remove();
        text.add(piece);
      };
      return { ...text, add };
    },
  };
}
