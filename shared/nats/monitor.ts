// Asks a server over its monitoring port what it is: one that is too old for a system account, or
// has none, tells it nowhere else. A stranger may listen there, so that the answer is bounded.
import { Failure } from '../errors.ts';
import { isRecord } from './record.ts';

/** The word of a server about itself. */
export interface Monitored {
  readonly version: string;
  /** Whom it lets in, as it runs: its configuration may say something else by now. */
  readonly asksLogin: boolean;
  readonly asksTls: boolean;
}

interface AskOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** A server of 2.1.9 tells some 2 kB. */
const BYTES_MAX = 64 * 1024;

/** `origin`: as `http://10.0.0.1:8222`. */
export async function askMonitor(
  origin: string,
  { timeoutMs, signal }: AskOptions,
): Promise<Monitored> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const answer = await fetch(`${origin}/varz`, { redirect: 'error', signal: within });
    return read(JSON.parse(await textOf(answer)));
  } catch (cause) {
    signal.throwIfAborted();
    const why = cause instanceof Failure ? cause.message : 'It does not answer.';
    throw new Failure('NATS_UNAVAILABLE', why, { cause });
  }
}

async function textOf(answer: Response): Promise<string> {
  if (answer.status !== 200) throw odd(`HTTP ${answer.status}`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > BYTES_MAX) throw odd(`more than ${BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function read(answer: unknown): Monitored {
  const { version, auth_required, tls_required } = isRecord(answer) ? answer : {};
  if (typeof version !== 'string' || !/^\d+\.\d+\.\d+/.test(version)) throw odd('no version');
  return { version, asksLogin: auth_required === true, asksTls: tls_required === true };
}

const odd = (what: string): Failure =>
  new Failure('NATS_UNAVAILABLE', `It answers as no nats-server does: ${what}.`);
