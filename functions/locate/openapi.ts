// The OpenAPI description, made of the routes themselves, so that it cannot differ from them.
import { errorTable } from '../../shared/errors.ts';
import type { Parameter } from './parameters.ts';
import { type QueryRoute, isOfVersion, parametersOf } from './query-route.ts';
import { COUNT, STRING, type Schema, record } from './schema.ts';

const STATE: Schema = {
  ...STRING,
  description: 'of the replica, when it is not current: the answer may be old',
};
const STALE: Schema = {
  type: 'boolean',
  description: 'true when nobody swept the feed in time: the answer may be old',
};
const PROBLEM_TYPE = 'application/problem+json';
const JSON_TYPE = 'application/json';

export function openApi(routes: readonly QueryRoute[]): Readonly<Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const { path, method } = route;
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Ballast locate',
      version: '1',
      description:
        'Where workloads run, what an address is, who had it when. Send Accept: text/plain for ' +
        'tables. Every answer has the version of the feed that it is of.',
    },
    paths,
    components: { schemas: { Problem: PROBLEM } },
  };
}

const PROBLEM: Schema = {
  ...record({
    type: STRING,
    title: STRING,
    status: COUNT,
    code: { ...STRING, description: 'docs/errors.md explains each' },
    detail: STRING,
    'field?': { ...STRING, description: 'the parameter that is at fault' },
    'object?': STRING,
  }),
};

function operationOf(route: QueryRoute): Readonly<Record<string, unknown>> {
  const { path, summary, choice = [], body, required = [] } = route;
  const names = choice.map(({ name }) => name).join(', ');
  return {
    operationId: path.slice(1).replaceAll(/\W/g, '_'),
    summary,
    ...(choice.length === 0 ? {} : { description: `Takes exactly one of ${names}.` }),
    parameters: parametersOf(route).map((one) => parameterOf(one, required.includes(one))),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { [JSON_TYPE]: { schema: body } } } }),
    responses: responsesOf(route),
  };
}

const parameterOf = (
  { name, meaning, schema, example }: Parameter<unknown>,
  required: boolean,
): Readonly<Record<string, unknown>> => ({
  name,
  in: 'query',
  required,
  description: meaning,
  schema,
  example: schema.type === 'integer' ? Number(example) : example,
});

function responsesOf(route: QueryRoute): Readonly<Record<string, unknown>> {
  const { answers, isSearch, isTimeless } = route;
  const schema = isTimeless === true ? answers : versioned(answers);
  return {
    200: {
      description: 'the answer',
      content: { [JSON_TYPE]: { schema }, 'text/plain': { schema: STRING } },
    },
    400: problem(errorTable.QUERY_INVALID.title),
    ...(isSearch === true ? { 404: problem(errorTable.OBJECT_UNKNOWN.title) } : {}),
    ...(isOfVersion(route) ? { 503: notYet() } : {}),
  };
}

function versioned(answers: Schema): Schema {
  const { properties = {}, required = [] } = answers;
  return {
    ...answers,
    properties: { version: COUNT, state: STATE, isStale: STALE, ...properties },
    required: ['version', ...required],
  };
}

const problem = (description: string): Readonly<Record<string, unknown>> => ({
  description,
  content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
});

const notYet = (): Readonly<Record<string, unknown>> => ({
  ...problem(`${errorTable.FEED_CATCHING_UP.title}, or: ${errorTable.FEED_VERSION_AHEAD.title}`),
  headers: { 'Retry-After': { description: 'seconds', schema: COUNT } },
});
