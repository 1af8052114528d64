// Bills of materials, held against the schema that CycloneDX publishes.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';

const MODULES = resolve(import.meta.dirname, '../../node_modules');
const SCHEMAS = join(MODULES, '@cyclonedx/cyclonedx-library', 'res/schema');

export interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly components?: readonly Component[];
  readonly hashes?: readonly object[];
}

export interface Bill {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
}

export const readBill = (path: string): Bill => JSON.parse(readFileSync(path, 'utf8')) as Bill;

let validate: ValidateFunction | undefined;

/** Null for a bill without a fault. */
export function faultsOf(bill: Bill): ValidateFunction['errors'] {
  validate ??= compiled();
  validate(bill);
  return validate.errors;
}

function compiled(): ValidateFunction {
  const schema = (name: string): object =>
    JSON.parse(readFileSync(join(SCHEMAS, `${name}.SNAPSHOT.schema.json`), 'utf8')) as object;
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  for (const name of ['spdx', 'jsf-0.82']) {
    ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  }
  return ajv.compile(schema('bom-1.6'));
}
