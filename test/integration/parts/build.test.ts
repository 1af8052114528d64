// A real build with Go into an empty cache of parts, and a second start that never calls Go.
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { type BuildReporter, buildReporter } from '../../../knative/try/local/parts/report.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { partsSettings } from '../../../knative/try/local/parts/settings.ts';

/**
 * Where Go's own cache has nothing of it, compiling nats-server takes 40 s on two idle cores, and
 * they are seldom idle in a test run.
 */
const COLD_BUILD_TIMEOUT_MS = 300_000;

function collecting(): { reporter: BuildReporter; text: () => string } {
  let text = '';
  const write = (more: string): void => {
    text += more;
  };
  return { reporter: buildReporter({ write }), text: () => text };
}

test(
  'the true Go builds nats-server into an empty cache, and the second resolve needs no Go',
  { timeout: COLD_BUILD_TIMEOUT_MS },
  async () => {
    const dir = await mkdtemp(join(tmpdir(), 'parts-build-'));
    try {
      const noGo = join(dir, 'no-go');
      await mkdir(noGo);
      await writeFile(join(noGo, 'go'), `#!/bin/sh\ntouch '${dir}/called'\nexit 1\n`);
      await chmod(join(noGo, 'go'), 0o755);
      const { BALLAST_PARTS: _, VITEST: __, ...env } = process.env;
      // Go's own cache stays: what it compiled for the parts it need not compile again.
      const GOCACHE = execFileSync('go', ['env', 'GOCACHE'], { encoding: 'utf8' }).trim();
      const cache = { XDG_CACHE_HOME: join(dir, 'cache'), GOCACHE };

      const { reporter, text } = collecting();
      // A nats-server that happens to be on PATH is no build.
      const settings = { ...partsSettings({ ...env, ...cache }), pathDirs: [] };
      const built = await resolvePart('nats-server', { settings, reporter });
      expect(execFileSync(built, ['--version'], { encoding: 'utf8' })).toContain('v2.15.2');
      // With Go's own cache filled there may be nothing left to compile.
      expect(text()).toMatch(/nats-server: (compiling, \d+ of \d+ packages|linking)/);
      expect(text()).toMatch(/nats-server: built in \d+ (s|min)/);

      const without = partsSettings({ ...cache, PATH: [noGo, '/usr/bin'].join(delimiter) });
      expect(await resolvePart('nats-server', { settings: without })).toBe(built);
      expect(await readdir(dir)).not.toContain('called');
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  },
);
