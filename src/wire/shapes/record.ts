// Records and requests: tables of fields in the names of the domain. The type of their JSON, its schema, its reader, and how a
// value of the domain is rendered come from the table:
//
//   projectId: nullable(uuid)                         `project_id` on the wire
//   createdAt: time                                   epoch ms in the domain, ISO 8601 on the wire
//   id: called('scheduled_task_id', uuid)             another name than that of the rule
//   usedPercent: made(integer(), percentUsed)         made of the whole value
//   owner: part(record({ userId: uuid }))             a record within the record, of the same value
import { type FieldsShape, type Member, objectOf, type ObjectRules, once } from './composites.ts';
import type { Called, FieldTable, JsonOfFields, Made, MadeOf, ReadOfFields, SourceOfFields } from './field-types.ts';
import type { AnyShape, Shape } from './shape.ts';

/** A record of a reply. */
export interface RecordShape<F extends FieldTable>
  extends Shape<JsonOfFields<F>, JsonOfFields<F>, SourceOfFields<F>>,
    Pick<FieldsShape, 'byName'> {
  /** To build others from. */
  readonly fields: F;
  readonly render: (value: SourceOfFields<F>) => JsonOfFields<F>;
}

/** A body or a query, which is read as a value of the domain. */
export interface RequestShape<F extends FieldTable>
  extends Shape<ReadOfFields<F>, JsonOfFields<F>>,
    Pick<FieldsShape, 'byName'> {
  readonly fields: F;
}

/** What is replied. Its fields are rendered in the order of the table. */
export function record<F extends FieldTable>(fields: F): RecordShape<F> {
  const lines = once(() => linesOf(fields));
  const members = () => lines().map(({ wireName, shape }) => ({ key: wireName, name: wireName, shape }));
  const renderer = once(() => rendererOf(lines()) as RecordShape<F>['render']);
  return { fields, ...objectOf<JsonOfFields<F>>(members, {}), render: (value) => renderer()(value) };
}

/** What is asked: read under the names of the wire, with the names of the domain as the result. */
export function request<F extends FieldTable>(fields: F, rules: ObjectRules = {}): RequestShape<F> {
  const members = () =>
    linesOf(fields).map(({ name, wireName, shape }): Member => ({ key: name, name: wireName, shape }));
  return { fields, ...objectOf<ReadOfFields<F>>(members, rules) };
}

/** A field that has another name on the wire than that of the rule. */
export function called<const W extends string, S extends AnyShape>(wireName: W, shape: S): Called<W, S> {
  return { ...shape, wireName };
}

/** A field that is rendered from what `make` gives for the whole value. */
export function made<V, T, J, D>(shape: Shape<T, J, D>, make: (whole: V) => D): MadeOf<Shape<T, J, D>, NoInfer<V>> {
  return { ...shape, make };
}

/** A record within another one, of the same value. */
export function part<F extends FieldTable>(shape: RecordShape<F>): MadeOf<RecordShape<F>, SourceOfFields<F>> {
  return { ...shape, make: (whole) => whole };
}

interface Line {
  readonly name: string;
  readonly wireName: string;
  readonly shape: AnyShape;
  readonly make?: (whole: never) => unknown;
}

function linesOf(fields: FieldTable): readonly Line[] {
  return Object.entries(fields).map(([name, field]) => {
    const { wireName = inSnakeCase(name), make } = field as { readonly wireName?: string } & Partial<Made<never>>;
    return { name, wireName, shape: field as AnyShape, ...(make && { make }) };
  });
}

/** Renders one record after another with the same fields in the same order, so that the engine has one hidden class for all. */
function rendererOf(lines: readonly Line[]): (value: never) => object {
  const steps = lines.map(({ name, wireName, make, shape: { render } }) => ({ name, wireName, make, render }));
  return (value: Readonly<Record<string, never>>) => {
    const found: Record<string, unknown> = {};
    for (const { name, wireName, make, render } of steps) {
      const field = make === undefined ? value[name] : make(value as never);
      found[wireName] = render === undefined ? field : render(field as never);
    }
    return found;
  };
}

function inSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
