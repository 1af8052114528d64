// The peer: clients of the API server that list and then watch pods, many in one process, each
// with a connection of its own. As lean as a client can be, on purpose: it parses what comes and
// keeps nothing, so whoever embeds a real informer pays more.
import { Agent, get } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { splitLines } from '../../../shared/kube/lines.ts';
import { accessReader } from '../../../shared/kube/access.ts';
import { systemClock } from '../../../shared/clock.ts';
import { Arrivals, nowMs } from './arrivals.ts';
import { answerWith } from './child.ts';

export type WatcherQuestion =
  /** One client for each name: of that node, or of all pods for `*`. Answers when all watch. */
  { readonly open: readonly string[] } | { readonly take: true } | { readonly close: true };

interface Event {
  readonly type: string;
  readonly object: { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } };
}

const [kubeconfigPath = '', timed = ''] = process.argv.slice(2);
const arrivals = new Arrivals(timed === 'timed');
const source = { kubeconfigPaths: [kubeconfigPath] };
const ACCESS_TIMEOUT_MS = 5_000;
const readAccess = accessReader(source, systemClock);
const access = await readAccess(false, AbortSignal.timeout(ACCESS_TIMEOUT_MS));
let agents: Agent[] = [];

function ask(agent: Agent, query: URLSearchParams): Promise<IncomingMessage> {
  const url = `${access.server}/api/v1/pods?${query.toString()}`;
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { ...access.headers } }, (response) => {
      if (response.statusCode === 200) resolve(response);
      else reject(new Error(`${url} was answered with ${response.statusCode}`));
    }).once('error', reject);
  });
}

/** As informers do: a list of whatever the API server has at hand, and a watch from there on. */
async function follow(agent: Agent, node: string): Promise<void> {
  const fieldSelector = node === '*' ? {} : { fieldSelector: `spec.nodeName=${node}` };
  const listed = await ask(agent, new URLSearchParams({ ...fieldSelector, resourceVersion: '0' }));
  const list = JSON.parse((await buffer(listed)).toString('utf8')) as {
    readonly metadata: { readonly resourceVersion: string };
  };
  const { resourceVersion } = list.metadata;
  const more = { watch: 'true', allowWatchBookmarks: 'true', resourceVersion };
  const watched = await ask(agent, new URLSearchParams({ ...fieldSelector, ...more }));
  // It ends when its agent is destroyed.
  void read(watched).catch(() => undefined);
}

async function read(response: IncomingMessage): Promise<void> {
  for await (const line of splitLines(response)) {
    const { type, object } = JSON.parse(line) as Event;
    if (type === 'MODIFIED') arrivals.note(object.metadata.labels);
  }
}

async function open(nodes: readonly string[]): Promise<number> {
  const beganMs = nowMs();
  const opened = nodes.map((node) => {
    const agent = new Agent({ ...access.tls, keepAlive: true, maxSockets: 1 });
    return { agent, watching: follow(agent, node) };
  });
  agents.push(...opened.map(({ agent }) => agent));
  await Promise.all(opened.map(({ watching }) => watching));
  return nowMs() - beganMs;
}

answerWith(async (question: WatcherQuestion) => {
  if ('open' in question) return open(question.open);
  if ('take' in question) return arrivals.take();
  for (const agent of agents) agent.destroy();
  agents = [];
  return 0;
});
