// The 240 colours that all terminals of 256 agree on: a cube of six levels, and a ramp of greys.

const LEVELS = [0, 95, 135, 175, 215, 255];
const FIRST_OF_CUBE = 16;

type Rgb = readonly [red: number, green: number, blue: number];

const CUBE = LEVELS.flatMap((red) => LEVELS.flatMap((green) => LEVELS.map((blue): Rgb => [red, green, blue])));
const GREYS = Array.from({ length: 24 }, (_, at): Rgb => [8 + 10 * at, 8 + 10 * at, 8 + 10 * at]);
const COLOURS = [...CUBE, ...GREYS];

/** The channels of one of the colours, 16 to 255. */
export function channelsOf(colour: number): Rgb {
  const channels = COLOURS[colour - FIRST_OF_CUBE];
  if (channels === undefined) throw new Error(`${colour} is a colour of the terminal's own.`);
  return channels;
}

/** SGR codes with each true colour replaced by the nearest of these. */
export function nearestCodes(codes: string): string {
  return codes.replace(/([34]8);2;(\d+);(\d+);(\d+)/, (_, kind: string, ...channels: string[]) => {
    const [red = 0, green = 0, blue = 0] = channels.slice(0, 3).map(Number);
    return `${kind};5;${nearest([red, green, blue])}`;
  });
}

function nearest(wanted: Rgb): number {
  const distance = (other: Rgb) => other.reduce((sum, channel, at) => sum + (channel - (wanted[at] ?? 0)) ** 2, 0);
  const distances = COLOURS.map(distance);
  return FIRST_OF_CUBE + distances.indexOf(Math.min(...distances));
}
