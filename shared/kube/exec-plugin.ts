// Credentials from a command, as in a kubeconfig's `exec`. Its output is never shown, because it is
// or may hold a secret.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { User } from '@kubernetes/client-node/dist/config_types.js';
import type { Clock } from '../clock.ts';
import { Failure } from '../errors.ts';
import { isRecord, textOf } from './json.ts';
import { pluginEnvironment } from './config.ts';

export interface ExecCredential {
  readonly token: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** Undefined when it lasts until it is refused. */
  readonly expiresAtMs: number | undefined;
}

/** The `exec` of a user, where it stands today or where it stood in the first kubeconfigs. */
export function execOf({ exec, authProvider }: User): Record<string, unknown> | undefined {
  const found: unknown = exec ?? authProvider?.config?.exec;
  return isRecord(found) ? found : undefined;
}

/** Remembers what each user's command printed until it expires. */
export class ExecPlugins {
  readonly #clock: Clock;
  readonly #known = new Map<string, ExecCredential>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  forget(): void {
    this.#known.clear();
  }

  async credential(
    userName: string,
    exec: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<ExecCredential> {
    const known = this.#known.get(userName);
    if (known !== undefined && (known.expiresAtMs ?? Infinity) > this.#clock.nowMs()) return known;
    const credential = readCredential(userName, exec, await run(userName, exec, signal));
    this.#known.set(userName, credential);
    return credential;
  }
}

async function run(
  userName: string,
  exec: Record<string, unknown>,
  signal: AbortSignal,
): Promise<string> {
  const args = Array.isArray(exec['args']) ? exec['args'].map(String) : [];
  const env = pluginEnvironment(Array.isArray(exec['env']) ? exec['env'].filter(isRecord) : []);
  try {
    // SIGKILL: nobody waits for it any more, so it must not stay behind.
    const options = { env, signal, killSignal: 'SIGKILL' } as const;
    return (await promisify(execFile)(textOf(exec['command']), args, options)).stdout;
  } catch (error) {
    signal.throwIfAborted();
    const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
    const why = typeof code === 'number' ? `exit code ${code}` : textOf(code) || 'it was killed';
    throw failed(userName, exec, why);
  }
}

function readCredential(
  userName: string,
  exec: Record<string, unknown>,
  printed: string,
): ExecCredential {
  const status = statusOf(printed);
  if (status === undefined) throw failed(userName, exec, 'it printed no ExecCredential');
  const text = (name: string): string | undefined => textOf(status[name]) || undefined;
  const expiresAtMs = Date.parse(textOf(status['expirationTimestamp']));
  return {
    token: text('token'),
    cert: text('clientCertificateData'),
    key: text('clientKeyData'),
    expiresAtMs: Number.isNaN(expiresAtMs) ? undefined : expiresAtMs,
  };
}

function statusOf(printed: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(printed);
    return isRecord(parsed) && isRecord(parsed['status']) ? parsed['status'] : undefined;
  } catch {
    // The parser quotes what it could not read.
    return undefined;
  }
}

function failed(userName: string, exec: Record<string, unknown>, why: string): Failure {
  const message =
    `The command '${textOf(exec['command'])}' of the kubeconfig user '${userName}' gave no ` +
    `credentials (${why}): run it by hand to see what it says.`;
  return new Failure('KUBE_ACCESS_UNREADABLE', message);
}
