// Who answers in a session: the plain agent, one expert, or an expert team (B2).

/** A target in its parts. A name may be that of a plugin's expert, such as `office:lawyer`. */
export type Target =
  | { readonly kind: 'free' }
  | { readonly kind: 'expert'; readonly name: string }
  | { readonly kind: 'team'; readonly name: string };

/** Reads `free`, `expert:NAME` or `team:NAME`; null for anything else. */
export function parseTarget(target: string): Target | null {
  if (target === 'free') return { kind: 'free' };
  const [, kind, name] = /^(expert|team):(.+)$/.exec(target) ?? [];
  return name === undefined ? null : { kind: kind as 'expert' | 'team', name };
}
