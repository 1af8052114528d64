// The answer to `GET /`: in a few lines the function, the events it wakes on, and where to read on.
import type { Answer } from './define.ts';
import type { Runtime } from './runtime.ts';

const DOCS = 'README.md and docs/ of the Ballast repository; docs/errors.md explains every code';

export function welcome<Deps>({ definition, build }: Runtime<Deps>): Answer {
  const { name, purpose, wakesOn, routes = [] } = definition;
  const answers = [
    ...routes.map(({ method, path, summary }) => ({ route: `${method} ${path}`, summary })),
    { route: 'GET /health/liveness, /health/readiness', summary: 'for probes' },
    { route: 'GET /metrics', summary: 'for Prometheus' },
  ];
  const commit = build.commit === '' ? '' : ` (${build.commit})`;
  const wakes = wakesOn.map((type) => `  ${type}\n`).join('');
  const lines = answers.map(({ route, summary }) => `  ${route}: ${summary}\n`).join('');
  return {
    body: {
      name,
      version: build.version,
      commit: build.commit,
      purpose,
      wakesOn,
      answers,
      docs: DOCS,
    },
    text:
      `${name} ${build.version}${commit}\n${purpose}\n` +
      (wakes === '' ? '' : `Wakes on CloudEvents, POST / of type:\n${wakes}`) +
      `Answers:\n${lines}Docs: ${DOCS}\n`,
  };
}
