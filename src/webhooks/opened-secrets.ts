// Opened secrets, remembered: opening one costs more than signing with it.
import type { SecretBox } from '../files/secret-box.ts';

/** The ones used last; the others are opened again. */
const MAX_REMEMBERED = 128;

/** Opens secrets as the box does. Each is remembered by its sealed bytes and its place, so a rotation needs no notice. */
export function rememberOpened(box: Pick<SecretBox, 'open'>): Pick<SecretBox, 'open'> {
  const opened = new Map<string, string>();
  return {
    open: (sealed, context) => {
      const key = `${context}:${Buffer.from(sealed).toString('latin1')}`;
      const text = opened.get(key) ?? box.open(sealed, context);
      // A map keeps the order of insertion: the first is the one that was used longest ago.
      opened.delete(key);
      opened.set(key, text);
      if (opened.size > MAX_REMEMBERED) opened.delete(opened.keys().next().value!);
      return text;
    },
  };
}
