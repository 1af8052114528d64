// Asks the function, with the token that a person gave, and waits longer after each failure.

export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const PAUSE_MIN_MS = 500;
const PAUSE_MAX_MS = 10_000;
/** Longer than the function waits for something new. */
const ANSWER_WITHIN_MS = 30_000;
const TOKEN = 'ballast-token';

let pauseMs = PAUSE_MIN_MS;

/** It lives as long as the tab. */
export function keepToken(token: string): void {
  sessionStorage.setItem(TOKEN, token);
}

export async function ask<Body>(path: string): Promise<Body> {
  const token = sessionStorage.getItem(TOKEN);
  const answer = await fetch(path, {
    headers: {
      accept: 'application/json',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    credentials: 'omit',
    cache: 'no-store',
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
  if (answer.ok) {
    pauseMs = PAUSE_MIN_MS;
    return answer.json();
  }
  const problem: { detail?: unknown } = await answer.json().catch(() => ({}));
  const { detail } = problem;
  const said = typeof detail === 'string' ? detail : `The answer was ${answer.status}.`;
  throw new Refused(answer.status, said);
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

export async function pauseAfterFailure(): Promise<void> {
  await sleep(pauseMs);
  pauseMs = Math.min(2 * pauseMs, PAUSE_MAX_MS);
}

/** Nobody looks at a hidden page: it asks nothing, so that the function may sleep. */
export function untilVisible(): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const look = (): void => {
      if (document.hidden) return;
      document.removeEventListener('visibilitychange', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
  });
}
