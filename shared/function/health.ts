// Readiness and liveness of a function, as the kubelet and Knative ask for them.
import type { ServerResponse } from 'node:http';
import type { Runtime } from './runtime.ts';

/**
 * Never calls out: an outage elsewhere must not take every instance of every function out of
 * service.
 */
export function sendReadiness<Deps>({ admission }: Runtime<Deps>, response: ServerResponse): void {
  if (admission.isDraining) sendState(response, 503, 'draining');
  else sendState(response, 200, 'ready');
}

export function sendLiveness<Deps>({ admission }: Runtime<Deps>, response: ServerResponse): void {
  if (admission.isStuck) sendState(response, 503, 'stuck');
  else sendState(response, 200, 'alive');
}

function sendState(response: ServerResponse, status: number, state: string): void {
  const body = JSON.stringify({ state });
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  response.writeHead(status, headers).end(body);
}
