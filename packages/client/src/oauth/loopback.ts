/** Whether a host is this machine, by its name alone: no resolver is asked, and none can lie. */

/** @param hostname of a URL: an IPv6 address is in brackets */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  );
}
