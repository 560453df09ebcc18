// Reads the exceptions of `egress.allow`: what can be reached in addition to the public internet (J7).
import { domainToASCII } from 'node:url';
import { EGRESS_PURPOSES, type EgressPurpose, type EgressRule } from '../domain/egress.ts';
import { isAddressRange } from '../outbound/address-range.ts';
import { choice, integer, list, type Schema, section, text } from './reading/schema.ts';

const MAX_RULES = 200;
const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
// A name that ends in a number is really an address.
const HOST = new RegExp(String.raw`^(?:\*\.)?(?:${LABEL}\.)*(?!\d+$|0x[0-9a-f]*$)${LABEL}$`);

/** An exception as written in errand.yaml, after its check against the schema. */
interface WrittenRule {
  readonly cidr?: string;
  readonly host?: string;
  readonly ports?: readonly number[];
  readonly for?: readonly EgressPurpose[];
}

function readHost(host: string): string {
  const [, wildcard = '', name = ''] = /^(\*\.)?(.*?)\.?$/.exec(host.toLowerCase()) ?? [];
  return wildcard + domainToASCII(name);
}

const isHost = (host: string) => host.length <= 253 && HOST.test(readHost(host));
const hasOneTarget = (rule: WrittenRule | string) =>
  typeof rule === 'string' || (rule.cidr === undefined) !== (rule.host === undefined);
const someOf = (of: Schema, what: string): Schema => ({ ...list(of, what), type: 'array', minItems: 1 });

/** The schema of the whole list. */
export function egressRulesSchema(): Schema {
  const rule: Schema = {
    ...section({
      cidr: text('a range of addresses, such as 10.0.0.0/8 or fd00::/8, or one address', isAddressRange),
      host: text('a name such as wiki.example.com or *.example.com; addresses belong in cidr', isHost),
      ports: someOf(integer(1, 65_535), 'ports from 1 to 65535'),
      for: someOf(choice(EGRESS_PURPOSES), `purposes (${EGRESS_PURPOSES.join(', ')})`),
    }),
    type: 'object',
    passes: hasOneTarget,
    mustBe: 'must be a map with either cidr or host, and optionally ports and for',
  };
  return list(rule, 'exceptions', MAX_RULES);
}

/** The rules of a list that matches the schema. Without `ports` a rule applies to every port, without `for` to every purpose. */
export function readEgressRules(written: unknown): readonly EgressRule[] {
  return (written as readonly WrittenRule[]).map((rule) => ({
    cidr: rule.cidr ?? null,
    host: rule.host === undefined ? null : readHost(rule.host),
    ports: rule.ports ?? null,
    for: rule.for ?? EGRESS_PURPOSES,
  }));
}
