// Exact arithmetic on JSON numbers: each is the decimal of its shortest text, not the nearest binary fraction.

/** A decimal: `digits` × 10^`exponent`. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

const TEXT = /^(-?\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;

/**
 * Whether `value` is a whole multiple of `step`, as decimals: 19.99 is a multiple of 0.01, although their floating-point
 * quotient is not an integer. Numbers range from 1e-324 to 1e308, so the compared integers have at most about 700 digits.
 */
export function isMultipleOf(value: number, step: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(step)) return value % step === 0;
  const [one, other] = [decimalOf(value), decimalOf(step)];
  const exponent = Math.min(one.exponent, other.exponent);
  return scaled(one, exponent) % scaled(other, exponent) === 0n;
}

/** The product of a count and a step, as an exact decimal: 3 times 0.1 is 0.3. */
export function timesStep(count: number, step: number): number {
  const { digits, exponent } = decimalOf(step);
  return Number.isSafeInteger(count) ? Number(`${BigInt(count) * digits}e${exponent}`) : count * step;
}

function decimalOf(number: number): Decimal {
  const [, whole = '0', fraction = '', power = '0'] = TEXT.exec(String(number)) ?? [];
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

function scaled({ digits, exponent }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(exponent - to);
}
