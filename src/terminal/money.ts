// Dollars as people read them: as short as can be, as exact as needed, or for one call of a model.
import { compact } from '../domain/figures.ts';

/** In at most seven columns: `<1¢`, `$0.07`, `$12.41`, `$1.2k`. */
export function money(dollars: number): string {
  if (dollars > 0 && dollars < 0.01) return '<1¢';
  return dollars < 1000 ? `$${dollars.toFixed(2)}` : `$${compact(dollars)}`;
}

/** Such as `$3.00` or `$0.012345`. Dollars of small calls have many places; more than six say nothing. */
export function exactMoney(dollars: number): string {
  const [whole, places = ''] = dollars.toFixed(6).replace(/0+$/, '').split('.');
  return `$${whole}.${places.padEnd(2, '0')}`;
}

/** Of calls, one below the other, such as `$0.0123`: four digits after the point, or more for less than a hundredth of a cent. */
export function callCost(dollars: number): string {
  return `$${dollars === 0 || dollars >= 0.0001 ? dollars.toFixed(4) : dollars.toPrecision(2)}`;
}
