// A real S3 of a test's own, over TLS with an authority of its own, and a relay before it at which
// a test does to requests and answers what networks and storages do.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import {
  createServer,
  type IncomingMessage,
  request as sendOn,
  type Server,
  type ServerResponse,
} from 'node:http';
import { request as sendSecretly } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { Authority } from '../../../knative/try/local/plane/authority.ts';
import type { Plane } from '../../../knative/try/local/plane/plane.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';

export const KEYS = { accessKeyId: 'ballast', secretAccessKey: 'not-a-secret' };
export const BUCKET = 'backups';

export interface S3Server {
  readonly url: string;
  readonly caPath: string;
}

export async function startS3(plane: Plane): Promise<S3Server> {
  const dir = join(plane.dir, 's3');
  await mkdir(join(dir, 'objects', BUCKET), { recursive: true });
  await mkdir(join(dir, 'sidecar'));
  const authority = new Authority('of a test');
  const { certPem, keyPem } = authority.issue({ commonName: 's3', hosts: ['127.0.0.1'] });
  const files = { 'ca.crt': authority.certPem, 'tls.crt': certPem, 'tls.key': keyPem };
  for (const [name, pem] of Object.entries(files)) await writeFile(join(dir, name), pem);
  const port = await freePort();
  const url = `https://127.0.0.1:${port}`;
  await plane.add({
    name: 's3',
    command: await resolvePart('versitygw'),
    args: [
      `--port=127.0.0.1:${port}`,
      `--access=${KEYS.accessKeyId}`,
      `--secret=${KEYS.secretAccessKey}`,
      `--cert=${join(dir, 'tls.crt')}`,
      `--key=${join(dir, 'tls.key')}`,
      '--health=/health',
      '--quiet',
      'posix',
      // A file system of a test may keep no attributes of files.
      `--sidecar=${join(dir, 'sidecar')}`,
      join(dir, 'objects'),
    ],
    env: {},
    url,
    ready: (signal) => isHealthy(`${url}/health`, authority.certPem, signal),
  });
  return { url, caPath: join(dir, 'ca.crt') };
}

/** For an EtcdBackup, with the keys and the authority in objects of these names. */
export const s3ObjectOf = ({ url }: S3Server) => ({
  bucket: BUCKET,
  endpoint: url,
  credentials: { secretName: 's3' },
  certificateAuthority: { kind: 'ConfigMap', name: 's3-ca', key: 'root.pem' },
});

/** The content of the file that lies beside it. */
export async function factsBeside({ dir }: Plane, key: string): Promise<object> {
  const path = join(dir, 's3/objects', BUCKET, `${key}.json`);
  return JSON.parse(await readFile(path, 'utf8')) as object;
}

function isHealthy(url: string, ca: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    sendSecretly(url, { ca, signal }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    })
      .once('error', reject)
      .end();
  });
}

export interface Passing {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body: Buffer;
  /** Sends it on, perhaps otherwise, and tells what the storage answered. */
  pass(body?: Buffer): Promise<Passed>;
  /** Answers the client. */
  answer(passed: Passed): void;
  /** The client hears nothing more. */
  cut(): void;
}

export interface Passed {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

type Meddling = (passing: Passing) => Promise<void> | void;

export const passOn: Meddling = async (passing) => passing.answer(await passing.pass());

export const slowDown: Passed = {
  statusCode: 503,
  headers: {},
  body: Buffer.from('<Error><Code>SlowDown</Code><Message>Reduce your rate</Message></Error>'),
};

export class S3Relay {
  /** Done with each request. */
  meddle: Meddling = passOn;
  readonly #server: Server;
  readonly #target: () => string;

  constructor(target: () => string) {
    this.#target = target;
    this.#server = createServer((request, response) => void this.#relay(request, response));
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #relay(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    const passing: Passing = {
      method,
      path: url,
      body,
      pass: (other = body) => passed(new URL(url, this.#target()), request, other),
      answer: ({ statusCode, headers, body: told }) => {
        response.writeHead(statusCode, headers as Record<string, string>).end(told);
      },
      cut: () => void response.destroy(),
    };
    await Promise.resolve(this.meddle(passing)).catch(() => response.destroy());
  }
}

/** As it came, so that its signature holds. */
function passed(url: URL, { method, headers }: IncomingMessage, body: Buffer): Promise<Passed> {
  const send = url.protocol === 'https:' ? sendSecretly : sendOn;
  return new Promise((resolve, reject) => {
    const options = { method: method ?? '', headers, rejectUnauthorized: false };
    const request = send(url, options, (response) => {
      const { statusCode = 0, headers: told } = response;
      buffer(response).then((bytes) => resolve({ statusCode, headers: told, body: bytes }), reject);
    });
    request.once('error', reject).end(body);
  });
}
