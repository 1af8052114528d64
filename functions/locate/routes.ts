// All routes: HTTP handlers and the OpenAPI description are made of this one table.
import { COMPLETE } from './complete.ts';
import { FEED } from './feed.ts';
import { openApi } from './openapi.ts';
import { type QueryRoute, routeOf } from './query-route.ts';
import { HYDRATE, POD } from './lookup.ts';
import { NODES } from './nodes.ts';
import { WHO } from './history.ts';

const OPENAPI: QueryRoute = {
  method: 'GET',
  path: '/openapi.json',
  summary: 'this description',
  isTimeless: true,
  answers: { type: 'object' },
  answer: () => ({ body: description }),
};

const all: readonly QueryRoute[] = [NODES, POD, HYDRATE, WHO, COMPLETE, FEED, OPENAPI];
const description = openApi(all);

export const routes = all.map((route) => routeOf(route));
