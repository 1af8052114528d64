// Everything that can be asked: the one table that routes and the OpenAPI description are made of.
import { COMPLETE } from './complete.ts';
import { FEED } from './health.ts';
import { openApi } from './openapi.ts';
import { type Question, routeOf } from './question.ts';
import { HYDRATE, POD } from './what.ts';
import { NODES } from './where.ts';
import { WHO } from './who.ts';

const OPENAPI: Question = {
  method: 'GET',
  path: '/openapi.json',
  summary: 'this description',
  isTimeless: true,
  answers: { type: 'object' },
  answer: () => ({ body: description }),
};

const questions: readonly Question[] = [NODES, POD, HYDRATE, WHO, COMPLETE, FEED, OPENAPI];
const description = openApi(questions);

export const routes = questions.map((question) => routeOf(question));
