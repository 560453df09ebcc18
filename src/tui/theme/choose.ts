// Finds out what the terminal can show, from its environment and, for the background, by asking it.
import { wantsColours } from '../../terminal/colours.ts';
import type { Background, ColourDepth } from './theme.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** How many colours to use, if any are wanted. */
export function depthFrom(environment: Environment): ColourDepth {
  if (!wantsColours(true, environment)) return 'none';
  const isTrue =
    /^(truecolor|24bit)$/i.test(environment['COLORTERM'] ?? '') || environment['TERM']?.endsWith('-direct') === true;
  if (isTrue) return 'true';
  return environment['TERM']?.includes('256color') === true ? '256' : 'sixteen';
}

/** The background that `COLORFGBG` names; undefined when it names none. */
export function backgroundFrom(environment: Environment): Background | undefined {
  const colour = environment['COLORFGBG']?.split(';').at(-1);
  if (colour === undefined || !/^\d{1,2}$/.test(colour)) return undefined;
  return ['7', '11', '15'].includes(colour) ? 'light' : 'dark';
}

/** The background in a terminal's reply to `OSC 11 ; ?`; undefined when it is no such reply. */
export function backgroundInReply(reply: string): Background | undefined {
  const parts = /\]11;rgba?:([0-9a-f]+)\/([0-9a-f]+)\/([0-9a-f]+)/i.exec(reply);
  if (parts === null) return undefined;
  const [red = 0, green = 0, blue = 0] = parts.slice(1).map((hex) => Number.parseInt(hex, 16) / (16 ** hex.length - 1));
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 ? 'light' : 'dark';
}
