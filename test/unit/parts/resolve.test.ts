// Where a part comes from, in order, and what is said when it comes from nowhere. A script stands
// in for Go.
import { chmod, mkdir, readFile, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { resolvePart, resolveParts } from '../../../knative/try/local/parts/resolve.ts';
import { partsSettings } from '../../../knative/try/local/parts/settings.ts';
import { RecordingReporter, fakeMachine } from './fake-go.ts';

const quiet = (): RecordingReporter => new RecordingReporter();

describe('the order in which a part is looked for', () => {
  test('a directory named by BALLAST_PARTS comes before PATH, whatever its version', async () => {
    await using machine = await fakeMachine({});
    await machine.script('bin', 'etcd', 'echo etcd Version: 3.6.1');
    const named = await machine.script('named', 'etcd', 'echo etcd Version: 3.4.0');
    const settings = partsSettings({ PATH: join(machine.dir, 'bin'), BALLAST_PARTS: named });
    expect(await resolvePart('etcd', { settings })).toBe(join(named, 'etcd'));
  });

  test('KUBEBUILDER_ASSETS gives etcd but not nats-server', async () => {
    await using machine = await fakeMachine(undefined);
    const assets = await machine.script('assets', 'etcd', '');
    await machine.script('assets', 'nats-server', '');
    const settings = partsSettings({ HOME: machine.dir, KUBEBUILDER_ASSETS: assets });
    expect(await resolvePart('etcd', { settings })).toBe(join(assets, 'etcd'));
    await expect(resolvePart('nats-server', { settings })).rejects.toThrow('nats-server v2.15.2');
  });

  test('a named directory that is not there is an error that names the variable', async () => {
    await using machine = await fakeMachine({}, { BALLAST_PARTS: '/nowhere/at/all' });
    const { settings } = machine;
    await expect(resolvePart('etcd', { settings })).rejects.toThrow(
      'BALLAST_PARTS names /nowhere/at/all, which is not a directory',
    );
  });

  test('PATH gives a fitting binary, and one that does not fit is passed over', async () => {
    await using machine = await fakeMachine({});
    const old = await machine.script('old', 'etcd', 'echo etcd Version: 3.5.21');
    const fitting = await machine.script('fitting', 'etcd', 'echo etcd Version: 3.6.1');
    const settings = partsSettings({ HOME: machine.dir, PATH: `${old}:${fitting}` });
    expect(await resolvePart('etcd', { settings })).toBe(join(fitting, 'etcd'));
  });

  test('a binary that is asked its version leaves nothing where it is asked', async () => {
    await using machine = await fakeMachine({});
    const body = 'echo $HOME >> "$0.homes"; touch left-behind; echo v1.36.1';
    const bin = await machine.script('bin', 'kubectl', body);
    const path = await resolvePart('kubectl', { settings: machine.settings });
    expect(path).toBe(join(bin, 'kubectl'));
    const home = (await readFile(`${path}.homes`, 'utf8')).trim();
    await expect(stat(home)).rejects.toThrow('ENOENT');
    await expect(stat('left-behind')).rejects.toThrow('ENOENT');
  });

  test('a binary that cannot tell its version is not taken from PATH', async () => {
    await using machine = await fakeMachine({});
    await machine.script('bin', 'apiserver_receive_adapter', 'echo v0.50.0');
    const { settings } = machine;
    const path = await resolvePart('apiserver_receive_adapter', { settings, reporter: quiet() });
    expect(path.startsWith(settings.cacheDir)).toBe(true);
  });

  test('the second resolve finds the cache and runs no Go command', async () => {
    await using machine = await fakeMachine({});
    const { settings } = machine;
    const first = await resolvePart('etcd', { settings, reporter: quiet() });
    const calls = await machine.goCalls();
    expect(await resolvePart('etcd', { settings })).toBe(first);
    expect(await machine.goCalls()).toEqual(calls);
  });
});

describe('a build', () => {
  test('goes from modules through packages to the link, and ends', async () => {
    await using machine = await fakeMachine({});
    const reporter = quiet();
    await resolvePart('etcd', { settings: machine.settings, reporter });
    expect(reporter.steps).toEqual([
      'plan | etcd',
      'etcd | reading modules',
      'etcd | downloading modules | 1 so far',
      'etcd | downloading modules | 2 so far',
      'etcd | compiling | 1 of 2 packages',
      'etcd | compiling | 2 of 2 packages',
      'etcd | linking',
      'done',
      'closed',
    ]);
  });

  test('pins the modules and stamps the version', async () => {
    await using machine = await fakeMachine({});
    const options = { settings: machine.settings, reporter: quiet() };
    await resolvePart('kube-apiserver', options);
    const builds = (await machine.goCalls()).filter((call) => call.startsWith('build'));
    expect(builds).toHaveLength(2);
    for (const call of builds) {
      expect(call).toContain('-mod=readonly -trimpath -ldflags=-s -w');
      expect(call).toContain('-X k8s.io/component-base/version.gitVersion=v1.36.3');
    }
  });

  test('leaves only binaries and their manifest in the cache', async () => {
    await using machine = await fakeMachine({});
    const { settings } = machine;
    const kubectl = await resolvePart('kubectl', { settings, reporter: quiet() });
    expect(await readdir(settings.cacheDir)).toHaveLength(1);
    const files = await readdir(dirname(kubectl));
    expect(files.toSorted()).toEqual(['kube-apiserver', 'kubectl', 'manifest.json']);
  });

  test('of a binary that calls itself something else is refused and leaves nothing', async () => {
    const build = 'printf "#!/bin/sh\\necho v9.9.9\\n" > "$output"; chmod +x "$output"';
    await using machine = await fakeMachine({ build });
    const { settings } = machine;
    await expect(resolvePart('etcd', { settings, reporter: quiet() })).rejects.toThrow(
      'etcd was built but calls itself v9.9.9, not v3.6.16',
    );
    expect(await readdir(settings.cacheDir)).toEqual([]);
  });

  test('that is aborted ends Go and leaves nothing', async () => {
    const build = 'echo $$ > "$HOME/pid"; echo "$package" >&2; exec sleep 60';
    await using machine = await fakeMachine({ build });
    const { settings } = machine;
    const abort = new AbortController();
    const reporter = new (class extends RecordingReporter {
      override progress(...args: Parameters<RecordingReporter['progress']>): void {
        super.progress(...args);
        if (args[0].step === 'linking') abort.abort();
      }
    })();
    const options = { settings, reporter, signal: abort.signal };
    await expect(resolvePart('etcd', options)).rejects.toThrow('aborted');
    expect(await readdir(settings.cacheDir)).toEqual([]);
    const pid = Number(await readFile(join(machine.dir, 'pid'), 'utf8'));
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  test('takes away what a builder that was killed left beside the cache', async () => {
    await using machine = await fakeMachine({});
    const { settings } = machine;
    const dir = dirname(await resolvePart('etcd', { settings, reporter: quiet() }));
    const leftover = `${dir}.building-${settings.host}-1`;
    await mkdir(leftover);
    await writeFile(join(dir, 'etcd'), 'torn');
    await resolvePart('etcd', { settings, reporter: quiet() });
    await expect(stat(leftover)).rejects.toThrow('ENOENT');
  });
});

describe('a cached binary', () => {
  test('that lost bytes is built again, and that is said', async () => {
    await using machine = await fakeMachine({});
    const { settings } = machine;
    const path = await resolvePart('etcd', { settings, reporter: quiet() });
    const whole = await readFile(path, 'utf8');
    await writeFile(path, whole.slice(0, 5));
    const reporter = quiet();
    expect(await resolvePart('etcd', { settings, reporter })).toBe(path);
    expect(await readFile(path, 'utf8')).toBe(whole);
    expect(reporter.notes.join('\n')).toMatch(
      /cached etcd has 5 bytes instead of \d+.*built again/,
    );
  });

  test('that was changed without growing is noticed by its hash', async () => {
    await using machine = await fakeMachine({});
    const { settings } = machine;
    const path = await resolvePart('etcd', { settings, reporter: quiet() });
    const whole = await readFile(path, 'utf8');
    await writeFile(path, whole.replace('echo', 'ohce'));
    const reporter = quiet();
    await resolvePart('etcd', { settings, reporter });
    expect(reporter.notes.join('\n')).toContain('cached etcd does not match its hash');
    expect(await readFile(path, 'utf8')).toBe(whole);
  });

  test('whose time alone changed is taken as it is', async () => {
    await using machine = await fakeMachine({});
    const { settings } = machine;
    const path = await resolvePart('etcd', { settings, reporter: quiet() });
    await utimes(path, 1_000_000_000, 1_000_000_000);
    const calls = await machine.goCalls();
    await resolvePart('etcd', { settings });
    expect(await machine.goCalls()).toEqual(calls);
  });

  test('that was changed behind its time is noticed by the full check', async () => {
    await using machine = await fakeMachine({});
    const { settings } = machine;
    const path = await resolvePart('etcd', { settings, reporter: quiet() });
    const { atime, mtime } = await stat(path);
    await writeFile(path, (await readFile(path, 'utf8')).replace('echo', 'ohce'));
    await utimes(path, atime, mtime);
    const calls = (await machine.goCalls()).length;
    await resolvePart('etcd', { settings });
    expect(await machine.goCalls()).toHaveLength(calls);
    await resolvePart('etcd', { settings, reporter: quiet(), check: 'full' });
    expect((await machine.goCalls()).length).toBeGreaterThan(calls);
  });

  test.each(['', '{"binaries":{"etcd":1}}', '[]', '{"binaries":'])(
    'with the manifest %j is built again',
    async (manifest) => {
      await using machine = await fakeMachine({});
      const { settings } = machine;
      const path = await resolvePart('etcd', { settings, reporter: quiet() });
      await writeFile(join(dirname(path), 'manifest.json'), manifest);
      const reporter = quiet();
      await resolvePart('etcd', { settings, reporter });
      expect(reporter.notes.join('\n')).toContain('manifest.json cannot be read');
    },
  );
});

describe('several builders at once', () => {
  test('build each part once, and the others wait and find it', async () => {
    await using machine = await fakeMachine({});
    const { settings } = machine;
    const reporters = [quiet(), quiet(), quiet(), quiet()];
    const paths = await Promise.all(
      reporters.map((reporter) => resolvePart('etcd', { settings, reporter })),
    );
    expect(new Set(paths).size).toBe(1);
    const builds = (await machine.goCalls()).filter((call) => call.startsWith('build'));
    expect(builds).toHaveLength(1);
    const isIn = (step: string) => reporters.filter(({ steps }) => steps.includes(step));
    expect(isIn('etcd | waiting for another build')).toHaveLength(3);
    expect(isIn('drop | etcd')).toHaveLength(3);
  });

  test('of different parts all get theirs', async () => {
    await using machine = await fakeMachine({});
    const { settings } = machine;
    const names = ['etcd', 'nats-server', 'kubectl'] as const;
    const paths = await Promise.all(
      names.map((name) => resolvePart(name, { settings, reporter: quiet() })),
    );
    for (const path of paths) expect((await stat(path)).size).toBeGreaterThan(0);
  });
});

describe('without a usable Go', () => {
  test('one message names every missing part and the ways out', async () => {
    await using machine = await fakeMachine(undefined);
    await machine.script('bin', 'kubectl', 'echo Client Version: v1.30.0');
    const { settings } = machine;
    const message = await resolveParts(['etcd', 'kubectl', 'kwok'], { settings }).then(
      () => '',
      (error: unknown) => (error instanceof Error ? error.message : ''),
    );
    expect(message).toContain('cannot be built: etcd v3.6.16, kubectl v1.36.3, kwok v0.8.0.');
    expect(message).toContain('There is no `go` on PATH.');
    expect(message).toContain(
      `Not taken: ${machine.dir}/bin/kubectl is v1.30.0, v1.35 to v1.37 would fit.`,
    );
    expect(message).toContain('install Go 1.26 or later');
    expect(message).toContain('BALLAST_PARTS=/the/directory');
    expect(message).toContain('for etcd, kubectl, KUBEBUILDER_ASSETS does it too');
  });

  test('an old Go that answers is named with its version', async () => {
    await using machine = await fakeMachine({ goVersion: 'go1.20.14' });
    const { settings } = machine;
    await expect(resolvePart('etcd', { settings, reporter: quiet() })).rejects.toThrow(
      'The `go` on PATH is go1.20.14; the modules need 1.26.',
    );
  });

  test('an old Go that refuses is quoted', async () => {
    const said = 'go: go.mod requires go >= 1.26 (running go 1.24.1; GOTOOLCHAIN=local)';
    await using machine = await fakeMachine({ goVersion: `x; echo '${said}' >&2; exit 1` });
    const { settings } = machine;
    await expect(resolvePart('etcd', { settings, reporter: quiet() })).rejects.toThrow(said);
  });
});

describe('a failing build says what happened and what Go said last', () => {
  test.each([
    ['write /tmp/x.a: no space left on device', 'The disk is full.'],
    ['verifying example.com/one@v1.0.0: checksum mismatch', 'is not the one that go.sum pins'],
    ['/usr/lib/go/link: signal: killed', 'The machine ran out of memory.'],
    ['example.com/one@v1.0.0: dial tcp: lookup proxy: no such host', 'could not be downloaded'],
    ['example.com/one@v1: reading https://p/x: 404 Not Found', 'could not be downloaded'],
    ['one.go:3:1: syntax error', '`go build` failed'],
  ])('%s', async (line, says) => {
    await using machine = await fakeMachine({ build: `echo '${line}' >&2; exit 1` });
    const { settings } = machine;
    const message = await resolvePart('etcd', { settings, reporter: quiet() }).then(
      () => '',
      (error: unknown) => (error instanceof Error ? error.message : ''),
    );
    expect(message).toContain(says);
    expect(message).toContain(line);
    expect(await readdir(settings.cacheDir)).toEqual([]);
  });

  test('a cache directory that cannot be written is named', async () => {
    await using machine = await fakeMachine({});
    const { settings } = machine;
    await mkdir(dirname(settings.cacheDir), { recursive: true });
    await writeFile(settings.cacheDir, 'a file where a directory should be');
    await chmod(settings.cacheDir, 0o644);
    await expect(resolvePart('etcd', { settings, reporter: quiet() })).rejects.toThrow(
      settings.cacheDir,
    );
  });
});
