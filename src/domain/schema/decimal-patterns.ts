// What pydantic writes for a `Decimal`, without the look-arounds, which no linear search has (0009).

/** Each begins like this: a sign, zeros, and a digit somewhere. */
const BEGIN = '^(?!^[-+.]*$)[+-]?0*';

interface Form {
  /** What follows; N stands for a number. */
  readonly written: string;
  /** The same with the numbers there; undefined where they mean something else. */
  same(...numbers: readonly number[]): string | undefined;
}

const FORMS: readonly Form[] = [
  { written: '\\d*\\.?\\d*$', same: () => decimal(Infinity, Infinity) },
  { written: '\\d*\\.?\\d{0,N}0*$', same: (places) => decimal(Infinity, places) },
  {
    written: '(?:\\d{0,N}|(?=[\\d.]{1,N}0*$)\\d{0,N}\\.\\d{0,N}0*$)',
    // The second number counts the point as well, and allows what the others do. Its first branch has no end, and so takes any text:
    // what is meant is that it has one.
    same: (whole, all, again, places) => (whole === again && whole + places < all ? decimal(whole, places) : undefined),
  },
];

const READ = FORMS.map(({ written, same }) => {
  const literal = (BEGIN + written).replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
  return { form: new RegExp(`^${literal.replaceAll('N', String.raw`(\d{1,3})`)}$`), same };
});

/** The same pattern in linear words; undefined for any other pattern. */
export function decimalPattern(pattern: string): string | undefined {
  for (const { form, same } of READ) {
    const found = form.exec(pattern);
    if (found !== null) return same(...found.slice(1).map(Number));
  }
  return undefined;
}

/** So many digits before the point and behind it, beside zeros at both ends. */
function decimal(whole: number, places: number): string {
  const before = digits(whole, (most) => `0*\\d{1,${most}}`);
  const behind = digits(places, (most) => `\\d{1,${most}}0*`);
  return `^[+-]?(?:${before}(?:\\.(?:${behind})?)?|\\.${behind})$`;
}

function digits(most: number, limited: (most: number) => string): string {
  if (most === Infinity) return '\\d+';
  return most === 0 ? '0+' : limited(most);
}
