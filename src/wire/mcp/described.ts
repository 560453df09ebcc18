// What a model reads of a field.
import type { AnyShape, JsonSchema } from '../shapes/shape.ts';

/** The shape, with words for whoever fills it in. */
export function described<S extends AnyShape>(words: string, shape: S): S {
  return { ...shape, describe: (components) => ({ ...shape.describe(components), description: words }) };
}

/** The JSON schema of a tool's input or output, which stands alone. */
export function schemaOf(shape: AnyShape): JsonSchema & { readonly type: 'object' } {
  return { ...shape.describe(new Map()), type: 'object' };
}
