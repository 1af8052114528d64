// Answers, on a socket in the cluster's directory, what other commands want of a running cluster:
// its parts, what they print, an image on every node, a node's power switch.
import { createServer } from 'node:http';
import type { Part } from '../../local/process/part.ts';
import { residentBytes } from '../../local/process/proc.ts';
import type { PartRow } from '../control.ts';
import type { ClusterSupervisor } from './supervisor.ts';

const LINES = 200;

type Query = (name: string) => string;

const answers: Readonly<Record<string, (cluster: ClusterSupervisor, query: Query) => unknown>> = {
  '/parts': (cluster) => Promise.all(cluster.parts().map(rowOf)),
  '/lines': (cluster, query) => cluster.part(query('part')).lastLines(LINES),
  '/import': (cluster, query) => cluster.import(query('archive')),
  '/stop': (cluster, query) => cluster.machine(query('node')).stop(),
  '/kill': (cluster, query) => cluster.machine(query('node')).kill(),
  '/start': (cluster, query) => cluster.machine(query('node')).start(),
};

async function rowOf({ name, state, pid }: Part): Promise<PartRow> {
  return { name, state, sizeBytes: (pid && (await residentBytes(pid))) || 0 };
}

export async function serveControl(cluster: ClusterSupervisor, socket: string): Promise<void> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://cluster');
    const query: Query = (name) => url.searchParams.get(name) ?? '';
    const answer = async (): Promise<unknown> => answers[url.pathname]?.(cluster, query);
    answer().then(
      (value) => response.end(JSON.stringify(value ?? null)),
      (error: unknown) => {
        response.statusCode = 400;
        response.end(error instanceof Error ? error.message : String(error));
      },
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(socket, resolve);
  });
}
