// A real API server as a function of a release before finds it, which knows of our kinds v1alpha1
// alone: the other version is neither announced nor answered.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { request as ask } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { PlaneAddress } from '../../knative/try/local/plane/address.ts';

const GROUP = '/apis/ballast.dev';
const LATER = `${GROUP}/v1beta1`;
const NOT_FOUND = { apiVersion: 'v1', kind: 'Status', status: 'Failure', code: 404 };
const HTTP_NOT_FOUND = 404;

interface Group {
  readonly versions: readonly { readonly version: string }[];
}

export class FormerApi {
  readonly #server: Server;
  readonly #to: string;

  private constructor(to: string, ca: Buffer) {
    this.#to = to;
    this.#server = createServer((request, response) => {
      const [path = ''] = (request.url ?? '').split('?');
      if (path === LATER || path.startsWith(`${LATER}/`)) {
        answer(response, HTTP_NOT_FOUND, NOT_FOUND);
        return;
      }
      const asked = this.#ask(request, ca, (found) => {
        if (path === GROUP) void withoutLater(found, response);
        else found.pipe(response.writeHead(found.statusCode ?? 0, found.headers));
      });
      asked.on('error', () => response.destroy());
      response.on('close', () => asked.destroy());
      request.pipe(asked);
    });
  }

  static async start(plane: PlaneAddress): Promise<FormerApi> {
    const to = plane.part('kube-apiserver').url;
    const former = new FormerApi(to, await readFile(plane.caPath));
    former.#server.listen(0, '127.0.0.1');
    await once(former.#server, 'listening');
    return former;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #ask(request: IncomingMessage, ca: Buffer, take: (found: IncomingMessage) => void) {
    const { method = 'GET', headers } = request;
    // Groups are read here, so they come as they are.
    const { 'accept-encoding': _, ...others } = headers;
    return ask(new URL(request.url ?? '/', this.#to), { method, headers: others, ca }, take);
  }
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function withoutLater(found: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of found) chunks.push(chunk as Buffer);
  const group = JSON.parse(Buffer.concat(chunks).toString()) as Group;
  const versions = group.versions.filter(({ version }) => version === 'v1alpha1');
  answer(response, found.statusCode ?? 0, { ...group, versions, preferredVersion: versions[0] });
}
