// Holds values against what a shape says of itself in JSON schema.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonValue } from '../../../src/domain/json.ts';
import { type AnyShape, type Components, schemasOf } from '../../../src/wire/shapes/shape.ts';

const validators = new WeakMap<AnyShape, ValidateFunction>();

/** Whether a value fits a shape's JSON schema. */
export function fitsSchema(shape: AnyShape, value: JsonValue): boolean {
  const validate = validators.get(shape) ?? compile(shape);
  validators.set(shape, validate);
  return validate(value);
}

function compile(shape: AnyShape): ValidateFunction {
  const components: Components = new Map();
  const schema = { ...shape.describe(components), components: { schemas: schemasOf(components) } };
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, keywords: ['components'], validateFormats: false });
  return ajv.compile(schema);
}
