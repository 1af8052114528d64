// values.schema.json of the chart: it knows every value, and refuses all others. Pure.
import { COMPONENTS } from './choices.ts';
import { chosenFunctions, ownSettings, type Source } from './values.ts';

type Schema = Readonly<Record<string, unknown>>;

const closed = (properties: Readonly<Record<string, Schema>>, more: Schema = {}): Schema => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...more,
});
const each = (names: readonly string[], schema: Schema): Readonly<Record<string, Schema>> =>
  Object.fromEntries(names.map((name) => [name, schema]));
const all = (names: readonly string[], schema: Schema): Schema =>
  closed(each(names, schema), { required: names });
const text = (pattern?: string): Schema => ({
  type: 'string',
  ...(pattern === undefined ? {} : { pattern }),
});
const list = (pattern: string, more: Schema = {}): Schema => ({
  type: 'array',
  items: text(pattern),
  ...more,
});

/** IPv4 or IPv6; the API server knows the rest. */
const RANGE = '^[0-9A-Fa-f.:]+/[0-9]{1,3}$';
const REPOSITORY = '^[a-z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)*$';
const TAG = '^(\\w[\\w.-]{0,127})?$';
/** It stands between quotes in an expression. */
const IMAGE_BEGINNING = "^[^'\\\\\\s]+$";
const count: Schema = { type: 'integer', minimum: 0 };

export function valuesSchema(source: Source): Schema {
  const names = ownSettings(source).map(({ name }) => name);
  const images = { repository: text(REPOSITORY), tag: text(TAG) };
  const digests = closed(each(source.images, text('^sha256:[0-9a-f]{64}$')));
  const settings = {
    ...each(names, text()),
    NATS_URL: { ...text(), minLength: 1 },
    CONFIRM_EVENTS: { enum: ['', 'true', 'false'] },
  };
  const servers = Object.keys(source.allowedImages);
  const top = {
    images: closed({ ...images, digests }, { required: ['repository', 'tag', 'digests'] }),
    settings: closed(settings, { required: names }),
    functions: all(chosenFunctions(source), { type: 'boolean' }),
    components: all(COMPONENTS, { type: 'boolean' }),
    network: all(['apiServer', 'nats'], list(RANGE)),
    allowedImages: all(servers, list(IMAGE_BEGINNING, { minItems: 1 })),
    scale: closed(each(source.functions, closed({ min: count, max: count }))),
    broker: closed({ class: { ...text(), minLength: 1 }, config: { type: 'object' } }, BROKER),
  };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    // Helm gives it to a chart that is part of another.
    ...closed({ ...top, global: { type: 'object' } }, { required: Object.keys(top) }),
  };
}

/** Neither a class without its configuration is meant, nor the other way round. */
const BROKER: Schema = { dependencies: { class: ['config'], config: ['class'] } };
