// What Ink writes, with the marks that Ink itself would take out.
import type { WriteStream } from 'node:tty';
import { GUARD } from '../text/fit.ts';

/** Ends what is written from right to left, where the terminal would go on with it. */
const LEFT_TO_RIGHT_MARK = '\u200e';

/** The terminal, on which each guard is a mark and a blank. */
export function guardedOutput(stdout: WriteStream): WriteStream {
  const write = (chunk: string | Uint8Array, ...rest: never[]) =>
    stdout.write(typeof chunk === 'string' ? chunk.replaceAll(GUARD, `${LEFT_TO_RIGHT_MARK} `) : chunk, ...rest);
  return new Proxy(stdout, {
    get(target, name) {
      if (name === 'write') return write;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
