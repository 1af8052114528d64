// The metrics of every function, from registries that are filled in this process as at the start of
// a function: with example settings, and without a server behind any of them.
import { join, resolve } from 'node:path';
import { systemClock } from '../../../shared/clock.ts';
import { exampleEnvironment, readConfig } from '../../../shared/function/config.ts';
import { definitionIn, type FunctionDefinition } from '../../../shared/function/define.ts';
import { createLog } from '../../../shared/function/log.ts';
import { type AnyInstrument, Metrics } from '../../../shared/function/metrics.ts';
import { runtimeShape } from '../../../shared/function/runtime-config.ts';
import { Runtime } from '../../../shared/function/runtime.ts';
import { Senders } from '../../../shared/function/senders/senders.ts';
import { metersIn } from '../../../shared/kube/narrow-cache/meters.ts';
import { functionNames } from '../build/function-names.ts';

const FUNCTIONS = resolve(import.meta.dirname, '../../../functions');

export interface FoundMetric {
  readonly instrument: AnyInstrument;
  readonly functions: readonly string[];
}

export interface CollectedMetrics {
  readonly functions: readonly string[];
  readonly metrics: readonly FoundMetric[];
}

/** Metrics that a function registers only once it needs them. */
const LATER: Readonly<Record<string, (metrics: Metrics) => unknown>> = { metadata: metersIn };

/** Nobody listens there. */
const NOWHERE = { NATS_URL: 'nats://127.0.0.1:1' };

export async function collectMetrics(): Promise<CollectedMetrics> {
  const functions = (await functionNames()).toSorted();
  const found = new Map<string, FoundMetric>();
  for (const name of functions) {
    const path = join(FUNCTIONS, name, 'index.ts');
    const metrics = await registered(definitionIn(await import(path), path));
    LATER[name]?.(metrics);
    for (const instrument of metrics.all()) {
      const before = found.get(instrument.name);
      const all = [...(before?.functions ?? []), name];
      found.set(instrument.name, { instrument: before?.instrument ?? instrument, functions: all });
    }
  }
  return { functions, metrics: [...found.values()] };
}

async function registered(definition: FunctionDefinition<object, unknown>): Promise<Metrics> {
  const environment = { ...exampleEnvironment(definition.config), ...NOWHERE };
  const own = readConfig(environment, definition.config).config();
  const config = readConfig(environment, runtimeShape).config();
  const metrics = new Metrics();
  const log = createLog({ level: 'silent', function: definition.name, revision: undefined });
  const clock = systemClock;
  const { signal } = new AbortController();
  const deps = await definition.open(own, { log, clock, metrics, asksTokens: true, signal });
  const senders = new Senders(config, undefined, clock);
  const build = { version: '', commit: '' };
  const parts = { definition, deps, config, senders, build, clock, log, metrics };
  const runtime = new Runtime(parts);
  await definition.close?.(deps);
  return runtime.metrics;
}
