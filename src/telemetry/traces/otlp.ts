// The body of an export request: the JSON encoding of OTLP, whose ids are hexadecimal and whose 64-bit numbers are texts.
import { VERSION } from '../../version.ts';

type Value =
  | { readonly stringValue: string }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly boolValue: boolean };

interface KeyValue {
  readonly key: string;
  readonly value: Value;
}

/** As the protocol numbers them. */
export const SPAN_KINDS = { internal: 1, server: 2, client: 3 } as const;
const STATUS_CODES = { unset: 0, ok: 1, error: 2 } as const;

export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly status: { readonly code: number; readonly message?: string };
}

/** Facts of a span, of which those that are null are left out. */
export type Attributes = Readonly<Record<string, string | number | boolean | null>>;

/** Numbers with a fraction by nature: a whole one of them must not change its type. */
const FRACTIONS: ReadonlySet<string> = new Set(['errand.cost_usd']);

export function attributesOf(facts: Attributes): KeyValue[] {
  const attributes: KeyValue[] = [];
  for (const [key, value] of Object.entries(facts))
    if (value !== null) attributes.push({ key, value: valueOf(value, FRACTIONS.has(key)) });
  return attributes;
}

function valueOf(value: string | number | boolean, isFraction: boolean): Value {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return isFraction ? { doubleValue: value } : { intValue: String(Math.round(value)) };
}

/** The status of what went well, failed for a reason, or has no outcome. */
export function statusOf(ok: boolean | null, reason: string | null = null): OtlpSpan['status'] {
  if (ok === null) return { code: STATUS_CODES.unset };
  if (ok) return { code: STATUS_CODES.ok };
  return { code: STATUS_CODES.error, ...(reason === null ? {} : { message: reason }) };
}

/** Epoch milliseconds as nanoseconds. */
export const nanoseconds = (at: number): string => `${Math.round(at)}000000`;

/** The body that sends these spans. */
export function exportRequest(spans: readonly OtlpSpan[], host: string): string {
  const resource = attributesOf({ 'service.name': 'errand', 'service.version': VERSION, 'host.name': host });
  const scope = { name: 'errand', version: VERSION };
  return JSON.stringify({ resourceSpans: [{ resource: { attributes: resource }, scopeSpans: [{ scope, spans }] }] });
}
