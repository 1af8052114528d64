// A plain HTTP server before the API server, for what the real one does not do on demand: answer
// 429, lose an answer after the work is done, or cut a stream. Everything else it passes through.

import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { Agent, request as requestTls } from 'node:https';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { parse, stringify } from 'yaml';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { openTestKube, withSharedPlane } from './world.ts';

export interface Fault {
  /** Which requests it is for; it is spent by the first. */
  meets(method: string, url: string, headers: IncomingHttpHeaders): boolean;
  readonly does:
    | { readonly answer: number; readonly retryAfterSeconds?: number }
    | 'lose-answer'
    | { readonly cutAfterBytes: number };
}

export interface Front {
  readonly url: string;
  readonly kubeconfigPath: string;
  /** `METHOD /path`, in the order they came. */
  readonly requests: readonly { readonly target: string; readonly atMs: number }[];
  /** Taken from the API server so far. */
  bytesRead(): number;
  readonly faults: Fault[];
  cutAll(): void;
  close(): Promise<void>;
}

export interface Given {
  readonly plane: PlaneAddress;
  readonly admin: KubeClient;
  readonly front: Front;
  /** Its calls go through the front. */
  readonly kube: KubeClient;
}

/** A front, and a client behind it, for each test of a file. */
export function withFrontEach(use: (given: Given) => void): void {
  let shared: Pick<Given, 'plane' | 'admin'>;
  let own: Pick<Given, 'front' | 'kube'>;
  withSharedPlane((plane, admin) => {
    shared = { plane, admin };
    return undefined;
  });
  beforeEach(async () => {
    const front = await openFront(shared.plane);
    own = { front, kube: openTestKube(shared.plane, front.kubeconfigPath) };
    use({ ...shared, ...own });
  });
  afterEach(async () => {
    await own.kube.close();
    await own.front.close();
  });
}

export async function openFront(plane: PlaneAddress): Promise<Front> {
  const upstream = new URL(plane.part('kube-apiserver').url);
  const agent = new Agent({ ca: await readFile(plane.caPath, 'utf8'), keepAlive: true });
  const requests: { target: string; atMs: number }[] = [];
  const faults: Fault[] = [];
  const read = { bytes: 0 };
  const server = createServer((from, to) => {
    const { method = '', url: path = '', headers } = from;
    requests.push({ target: `${method} ${path.split('?')[0]}`, atMs: performance.now() });
    const index = faults.findIndex((candidate) => candidate.meets(method, path, headers));
    const [fault] = index < 0 ? [] : faults.splice(index, 1);
    const answer = answerOf(fault);
    if (answer !== undefined) {
      to.writeHead(answer.status, answer.headers).end('{}');
      return;
    }
    const { hostname: host, port } = upstream;
    const onward = requestTls({ host, port, agent, method, path, headers });
    onward.on('response', (response) => passBack(response, to, fault, read));
    onward.on('error', () => to.destroy());
    to.on('close', () => onward.destroy());
    from.pipe(onward);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  const url = `http://127.0.0.1:${address.port}`;
  return {
    url,
    kubeconfigPath: await kubeconfigFor(plane, url),
    requests,
    faults,
    bytesRead: () => read.bytes,
    cutAll: () => server.closeAllConnections(),
    close: async () => {
      server.closeAllConnections();
      server.close();
      agent.destroy();
    },
  };
}

function passBack(
  answer: IncomingMessage,
  to: ServerResponse,
  fault: Fault | undefined,
  read: { bytes: number },
): void {
  if (fault?.does === 'lose-answer') {
    answer.resume().on('end', () => to.destroy());
    return;
  }
  to.writeHead(answer.statusCode ?? 502, answer.headers);
  const cutAt = read.bytes + cutAfter(fault);
  answer.on('data', (chunk: Buffer) => {
    read.bytes += chunk.length;
    if (read.bytes > cutAt) to.destroy();
  });
  answer.on('error', () => to.destroy());
  answer.pipe(to);
}

function answerOf(fault: Fault | undefined) {
  if (typeof fault?.does !== 'object' || !('answer' in fault.does)) return undefined;
  const { answer, retryAfterSeconds } = fault.does;
  const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': `${retryAfterSeconds}` };
  return { status: answer, headers };
}

function cutAfter(fault: Fault | undefined): number {
  return typeof fault?.does === 'object' && 'cutAfterBytes' in fault.does
    ? fault.does.cutAfterBytes
    : Infinity;
}

async function kubeconfigFor(plane: PlaneAddress, server: string): Promise<string> {
  const config = parse(await readFile(plane.kubeconfigPath, 'utf8')) as {
    clusters: { cluster: Record<string, string> }[];
  };
  for (const { cluster } of config.clusters) cluster['server'] = server;
  const path = join(plane.dir, `kubeconfig-front-${new URL(server).port}`);
  await writeFile(path, stringify(config));
  return path;
}
