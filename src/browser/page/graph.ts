// Bars and small graphs, drawn for eyes alone: what they say stands beside them as text, or is their name.
import { h, setAttribute, setClass, svg } from './element.ts';

export interface Bar {
  readonly element: HTMLElement;
  /** `share` from 0 to 1; more is drawn as 1. */
  readonly draw: (share: number, role: string) => void;
}

export function bar(): Bar {
  const fill = h('span', { class: 'fill' });
  const element = h('span', { class: 'bar', 'aria-hidden': 'true' }, fill);
  let drawn = '';
  return {
    element,
    draw(share, role) {
      const percent = share <= 0 ? 0 : Math.min(100, Math.max(2, Math.round(share * 100)));
      const width = `${percent}%`;
      if (width !== drawn) fill.style.width = width;
      drawn = width;
      setClass(fill, `fill is-${role}`);
    },
  };
}

export interface Graph {
  readonly element: SVGElement;
  readonly draw: (values: readonly (number | null)[], name: string) => void;
}

const HEIGHT = 16;

/** A column for each value, the highest full; a line at the bottom where nothing came, nothing where it is unknown. */
export function graph(): Graph {
  const path = svg('path');
  const element = svg('svg', { class: 'graph', role: 'img', preserveAspectRatio: 'none' }, path);
  return {
    element,
    draw(values, name) {
      const highest = Math.max(1, ...values.map((value) => value ?? 0));
      const columns = values.map((value, at) => {
        if (value === null) return '';
        const height = value === 0 ? 1 : Math.max(2, (value / highest) * HEIGHT);
        return `M${at} ${HEIGHT}v-${Number(height.toFixed(2))}h.8v${Number(height.toFixed(2))}z`;
      });
      setAttribute(element, 'viewBox', `0 0 ${Math.max(1, values.length)} ${HEIGHT}`);
      setAttribute(element, 'aria-label', name);
      setAttribute(path, 'd', columns.join(''));
    },
  };
}
