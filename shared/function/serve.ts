// The process around a function: environment in, signals and exit codes out. 0 after SIGTERM, 1
// when it broke, 2 when its configuration does not hold.
import { ConfigError, type Environment } from './config.ts';
import type { FunctionDefinition } from './define.ts';
import { createLog } from './log.ts';
import type { BuildInfo } from './runtime.ts';
import { startFunction } from './start.ts';

const EXIT_BROKEN = 1;
const EXIT_CONFIG = 2;

export async function serve<Config extends object, Deps>(
  definition: FunctionDefinition<Config, Deps>,
  build: BuildInfo,
): Promise<void> {
  const environment: Environment = process.env;
  // Before there is a configuration there is only this; it writes what must never be lost.
  const lastWords = createLog({ level: 'info', function: definition.name, revision: undefined });
  const die = (err: unknown, message: string, code: number): never => {
    lastWords.fatal({ err }, message);
    process.exit(code);
  };
  // Node would print a stack that no log collector can read; the sender of each event in flight
  // tries again.
  process.once('uncaughtException', (err) => die(err, 'uncaught exception', EXIT_BROKEN));
  process.once('unhandledRejection', (err) => die(err, 'unhandled rejection', EXIT_BROKEN));
  const starting = startFunction(definition, { environment, build });
  // Before it listens: a signal that comes while it starts is not to kill what has just begun.
  onSignals(async () => {
    await (await starting).stop();
    process.exit(0);
  });
  try {
    await starting;
  } catch (err) {
    if (err instanceof ConfigError) {
      lastWords.fatal({ problems: err.problems }, 'the configuration does not hold');
      process.exit(EXIT_CONFIG);
    }
    die(err, 'could not start', EXIT_BROKEN);
  }
}

/**
 * The first signal asks, the second one insists: then the exit code is the shell's for a killed
 * process.
 */
function onSignals(stop: () => Promise<void>): void {
  let isStopping = false;
  const codes = { SIGTERM: 143, SIGINT: 130 } as const;
  for (const [signal, code] of Object.entries(codes)) {
    process.on(signal, () => {
      if (isStopping) process.exit(code);
      isStopping = true;
      void stop();
    });
  }
}
