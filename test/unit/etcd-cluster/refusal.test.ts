// The last words of etcd that prove that it refuses its data, and those that prove nothing. Each is
// cut out of what a real one said with a file that was damaged, or with another trouble.
import { expect, test } from 'vitest';
import { refusalIn } from '../../../functions/etcd-cluster/refusal.ts';

const of = (exitCode: number, lastWords: string) =>
  refusalIn({ restarts: 3, exitCode, isUp: false, lastWords });

const fatal = (error: string): string =>
  `{"level":"fatal","msg":"discovery failed","error":"${error}","stacktrace":"go.etcd.io/etcd"}`;
const opening = (error: string): string =>
  `{"level":"panic","msg":"failed to open database","path":"/data/db","error":"${error}"}
panic: failed to open database

goroutine 122 [running]:
go.uber.org/zap/zapcore.CheckWriteAction.OnWrite(0x2?, 0x1)`;
const WALK = `go.etcd.io/bbolt.(*Tx).recursivelyCheckBucket(0x1, 0x2)
	go.etcd.io/bbolt@v1.4.3/tx_check.go:130 +0x73
go.etcd.io/bbolt.Open({0x1, 0x26}, 0x180, 0x2)`;

test.each<[number, string, string]>([
  [1, fatal('walpb: crc mismatch'), 'its log on the disk is damaged'],
  [
    1,
    fatal("walpb: crc mismatch: expected: 770bf6eb computed: fded3c06: in file '0-0.wal'"),
    'its log on the disk is damaged',
  ],
  [1, fatal('proto: illegal wireType 7'), 'its log on the disk is damaged'],
  [1, fatal('proto:\u00a0cannot parse invalid wire-format data'), 'its log on the disk is damaged'],
  [
    2,
    'panic: tocommit(362) is out of range [lastIndex(183)]. Was the raft log corrupted?',
    'its log on the disk lacks entries that it had confirmed',
  ],
  [2, opening('version mismatch'), 'its database is damaged'],
  [2, opening('checksum error'), 'its database is damaged'],
  [2, opening('invalid database'), 'its database is damaged'],
  [2, opening('file size too small'), 'its database is damaged'],
  [2, opening('file size too small 3000'), 'its database is damaged'],
  [
    2,
    'panic: assertion failed: Page expected to be: 36, but self identifies as 0\n\ngoroutine 1',
    'its database is damaged',
  ],
  [2, `page.go:83 +0x1c7\n${WALK}`, 'its database is damaged'],
  [2, WALK.replace('recursivelyCheckBucket', 'checkBucket'), 'its database is damaged'],
  [
    2,
    'd to recover v3 backend from snapshot\n\ngoroutine 1 [running]:',
    'its database lacks what its log goes on from',
  ],
  [1, fatal('could not retrieve cluster information from the given URLs'), 'its volume is empty'],
  [
    1,
    fatal('error validating peerURLs {ClusterID:1 RemovedMemberIDs:[]}: member count is unequal'),
    'its volume is empty',
  ],
])('exit code %i and "%s": %s', (code, words, why) => {
  expect(of(code, words)).toBe(why);
});

test.each<[string, number, string]>([
  ['a file that it may not read', 2, opening('open /var/lib/etcd/db: permission denied')],
  ['a log that it may not read', 1, fatal('open /var/lib/etcd/0-0.wal: permission denied')],
  ['data of a newer version', 1, fatal('version \\"3.7.0\\" is not supported')],
  [
    'data of a newer version, of 3.5',
    1,
    '"msg":"invalid downgrade; server version is lower than determined cluster version"',
  ],
  ['too little memory', 2, 'fatal error: failed to reserve page summary memory'],
  ['a disk that fails to read', 2, `runtime.sigpanic() fp=0x1 sp=0x2 pc=0x3\n${WALK}`],
  ['a flag that it does not know', 2, 'error verifying flags, flag provided but not defined'],
  ['nothing', 1, ''],
  ['a kill amid a damaged log', 137, fatal('walpb: crc mismatch')],
])('%s is no proof', (_, code, words) => {
  expect(of(code, words)).toBeUndefined();
});
