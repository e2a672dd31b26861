/** The filter of system calls, as the bytes of a BPF program that bubblewrap hands to the kernel (seccomp(2)). */

import type { Processor } from "./syscalls.ts";

/** Operations of classic BPF (linux/bpf_common.h). */
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const IF_ANY_BIT = 0x45;
const RETURN = 0x06;

/** Where `struct seccomp_data` has its fields; of an argument, the lower half. */
const NUMBER = 0;
const PROCESSOR = 4;
const argument = (index: number) => 16 + 8 * index;

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const fail = (errno: number) => 0x00050000 | errno;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** The sockets that are of use where there is no network: unix, IPv4, IPv6 (a loopback of its own), netlink. */
const FAMILIES = [1, 2, 10, 16];
/** CLONE_NEW…: time, mount, cgroup, uts, ipc, user, pid, net. */
const NAMESPACES = 0x00000080 | 0x7e020000;
/** What types into the terminal that we may have been started from. */
const TERMINAL = [0x5412, 0x541c];

type Instruction = [operation: number, value: number, ifTrue?: number, ifFalse?: number];

/**
 * A filter that refuses what a command has no use for and a way out may need: namespaces, mounts, tracing, kernel
 * modules, keys, io_uring, sockets that no network namespace holds (vsock), and memory that belongs to no process: where
 * no control group bounds it, nobody would see it.
 */
export function seccompFilter(processor: Processor): Uint8Array {
  const { audit, foreign, clone, clone3, ioctl, socket, socketpair, refused } = processor;
  const program: Instruction[] = [
    [LOAD, PROCESSOR],
    [IF_EQUAL, audit, 1, 0],
    [RETURN, KILL],
    [LOAD, NUMBER],
  ];
  if (foreign !== undefined) program.push([IF_AT_LEAST, foreign, 0, 1], [RETURN, fail(EPERM)]);
  for (const number of Object.values(refused)) program.push(...when(number, [[RETURN, fail(EPERM)]]));
  program.push(
    // Its flags are in memory, where a filter cannot look; without it C libraries take clone.
    ...when(clone3, [[RETURN, fail(ENOSYS)]]),
    ...when(clone, [
      [LOAD, argument(0)],
      [IF_ANY_BIT, NAMESPACES, 0, 1],
      [RETURN, fail(EPERM)],
      [RETURN, ALLOW],
    ]),
    ...when(ioctl, [[LOAD, argument(1)], ...oneOf(TERMINAL, 0, 1), [RETURN, fail(EPERM)], [RETURN, ALLOW]]),
  );
  for (const number of [socket, socketpair]) {
    program.push(
      ...when(number, [
        [LOAD, argument(0)],
        ...oneOf(FAMILIES, 1, 0),
        [RETURN, fail(EAFNOSUPPORT)],
        [RETURN, ALLOW],
      ]),
    );
  }
  program.push([RETURN, ALLOW]);
  return encode(program);
}

/** Instructions for one system call; they end with a return, for what they loaded is no number of a call. */
function when(number: number, then: Instruction[]): Instruction[] {
  return [[IF_EQUAL, number, 0, then.length], ...then];
}

/** Goes on past so many instructions after the last, if what was loaded is one of the values, or is none. */
function oneOf(values: readonly number[], ifTrue: number, ifFalse: number): Instruction[] {
  return values.map((value, index) => {
    const left = values.length - 1 - index;
    return [IF_EQUAL, value, left + ifTrue, left === 0 ? ifFalse : 0];
  });
}

/** `struct sock_filter`, little-endian as both processors are. */
function encode(program: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(program.length * 8);
  const view = new DataView(bytes.buffer);
  for (const [index, [operation, value, ifTrue = 0, ifFalse = 0]] of program.entries()) {
    view.setUint16(index * 8, operation, true);
    view.setUint8(index * 8 + 2, ifTrue);
    view.setUint8(index * 8 + 3, ifFalse);
    view.setUint32(index * 8 + 4, value >>> 0, true);
  }
  return bytes;
}
