// Curator against `lockstep serve` of zookeeper_ensemble.toml:
//   java -cp '/usr/share/java/*' CuratorEnsemble.java PORT,PORT,PORT

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryForever;

public class CuratorEnsemble {
  static final int SESSION_MS = 8000;

  static void expect(boolean condition, String what) {
    if (condition) return;
    System.out.println("Curator: " + what);
    System.exit(1);
  }

  /** leader, follower, or nothing: it is down, or knows no leader. */
  static String mode(int port) {
    try (Socket server = new Socket(InetAddress.getLoopbackAddress(), port)) {
      server.setSoTimeout(5000);
      server.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
      String told = new String(server.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      int begin = told.indexOf("Mode: ");
      return begin < 0 ? "" : told.substring(begin + 6).trim();
    } catch (IOException e) {
      return "";
    }
  }

  static void waitUntil(Callable<Boolean> condition, String what) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(40);
    while (!condition.call()) {
      expect(System.nanoTime() < end, what);
      Thread.sleep(50);
    }
  }

  static CuratorFramework connect(String servers, List<ConnectionState> states) throws Exception {
    CuratorFramework client =
        CuratorFrameworkFactory.builder()
            .connectString(servers)
            .sessionTimeoutMs(SESSION_MS)
            .connectionTimeoutMs(SESSION_MS)
            .retryPolicy(new RetryForever(50))
            .build();
    client.getConnectionStateListenable().addListener((which, state) -> states.add(state));
    client.start();
    expect(client.blockUntilConnected(20, TimeUnit.SECONDS), "a connection");
    return client;
  }

  static long session(CuratorFramework client) throws Exception {
    return client.getZookeeperClient().getZooKeeper().getSessionId();
  }

  public static void main(String[] arguments) throws Exception {
    String[] ports = arguments[0].split(",");
    int[] port = new int[3];
    for (int i = 0; i < 3; ++i) port[i] = Integer.parseInt(ports[i]);
    String servers = "127.0.0.1:" + ports[0] + ",127.0.0.1:" + ports[1] + ",127.0.0.1:" + ports[2];

    waitUntil(() -> mode(port[0]).equals("leader"), "the first server leads");
    List<ConnectionState> states = new CopyOnWriteArrayList<>();
    CuratorFramework a = connect(servers, states);
    CuratorFramework b = connect(servers, new CopyOnWriteArrayList<>());
    long session = session(a);
    InterProcessMutex mine = new InterProcessMutex(a, "/locks/one");
    InterProcessMutex other = new InterProcessMutex(b, "/locks/one");
    expect(mine.acquire(10, TimeUnit.SECONDS), "nobody has it");
    expect(mode(port[0]).equals("leader"), "this machine is too slow: the leader has died before the lock was held");

    waitUntil(() -> mode(port[0]).isEmpty(), "the leader dies");
    waitUntil(() -> mode(port[1]).equals("leader") || mode(port[2]).equals("leader"), "another one leads");
    a.sync().forPath("/locks/one");
    b.sync().forPath("/locks/one");
    expect(!states.contains(ConnectionState.LOST) && session(a) == session, "A's session goes on");
    expect(b.getChildren().forPath("/locks/one").size() == 1, "A's node is there");

    ExecutorService thread = Executors.newSingleThreadExecutor();
    Future<Boolean> waits = thread.submit(() -> other.acquire(20, TimeUnit.SECONDS));
    Thread.sleep(1000);
    expect(!waits.isDone(), "A has it still");
    mine.release();
    expect(waits.get(), "B gets it");
    thread.submit(
            () -> {
              other.release();
              return true;
            })
        .get();
    System.out.println("Curator: a lock that outlives the leader; agrees");
    System.exit(0);
  }
}
