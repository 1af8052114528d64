// The OpenAPI description, made of the questions themselves: what it says is what is taken.
import { errorTable } from '../../shared/errors.ts';
import type { Parameter } from './parameters.ts';
import { type Question, isOfVersion, parametersOf } from './question.ts';
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

export function openApi(questions: readonly Question[]): Readonly<Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const question of questions) {
    const { path, method } = question;
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(question) };
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

function operationOf(question: Question): Readonly<Record<string, unknown>> {
  const { path, summary, choice = [], body, required = [] } = question;
  const names = choice.map(({ name }) => name).join(', ');
  return {
    operationId: path.slice(1).replaceAll(/\W/g, '_'),
    summary,
    ...(choice.length === 0 ? {} : { description: `Takes exactly one of ${names}.` }),
    parameters: parametersOf(question).map((one) => parameterOf(one, required.includes(one))),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { [JSON_TYPE]: { schema: body } } } }),
    responses: responsesOf(question),
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

function responsesOf(question: Question): Readonly<Record<string, unknown>> {
  const { answers, isSearch, isTimeless } = question;
  const schema = isTimeless === true ? answers : versioned(answers);
  return {
    200: {
      description: 'the answer',
      content: { [JSON_TYPE]: { schema }, 'text/plain': { schema: STRING } },
    },
    400: problem(errorTable.QUERY_INVALID.title),
    ...(isSearch === true ? { 404: problem(errorTable.OBJECT_UNKNOWN.title) } : {}),
    ...(isOfVersion(question) ? { 503: notYet() } : {}),
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
