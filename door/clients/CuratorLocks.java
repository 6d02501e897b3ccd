// Curator against `lockstep serve` of zookeeper.toml:
//   java -cp '/usr/share/java/*' CuratorLocks.java PORT

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Collection;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryForever;

public class CuratorLocks {
  static final int SESSION_MS = 3000;
  static final int TICK_MS = 100;
  static final int SLACK_MS = 2000; // what a busy machine may add

  /** A way to the server that can be cut. */
  static class Cable implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final Collection<Socket> ends = new ConcurrentLinkedQueue<>();
    private final int server;
    private volatile boolean isCut = false;

    Cable(int server) throws IOException {
      this.server = server;
      begin(this::accept);
    }

    int port() {
      return listener.getLocalPort();
    }

    private static void begin(Runnable work) {
      Thread thread = new Thread(work);
      thread.setDaemon(true);
      thread.start();
    }

    private void accept() {
      try {
        while (true) {
          Socket near = listener.accept();
          ends.add(near);
          if (isCut) {
            near.close();
            continue;
          }
          Socket far = new Socket(InetAddress.getLoopbackAddress(), server);
          ends.add(far);
          far.setTcpNoDelay(true);
          near.setTcpNoDelay(true);
          begin(() -> carry(near, far));
          begin(() -> carry(far, near));
        }
      } catch (IOException e) {
        // It is closed.
      }
    }

    private static void carry(Socket from, Socket to) {
      try (from; to) {
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream();
        byte[] some = new byte[4096];
        for (int size = in.read(some); size >= 0; size = in.read(some)) out.write(some, 0, size);
      } catch (IOException e) {
        // Either end has gone.
      }
    }

    void cut() throws IOException {
      isCut = true;
      for (Socket end : ends) end.close();
      ends.clear();
    }

    void mend() {
      isCut = false;
    }

    @Override
    public void close() throws IOException {
      cut();
      listener.close();
    }
  }

  static CuratorFramework connect(int port) throws Exception {
    CuratorFramework client =
        CuratorFrameworkFactory.builder()
            .connectString("127.0.0.1:" + port)
            .sessionTimeoutMs(SESSION_MS)
            .connectionTimeoutMs(SESSION_MS)
            .retryPolicy(new RetryForever(50))
            .build();
    client.start();
    expect(client.blockUntilConnected(20, TimeUnit.SECONDS), "a connection");
    return client;
  }

  static void expect(boolean condition, String what) {
    if (condition) return;
    System.out.println("Curator: " + what);
    System.exit(1);
  }

  /** In a thread of its own: a mutex belongs to a thread. */
  static boolean inOtherThread(java.util.concurrent.Callable<Boolean> call) throws Exception {
    AtomicReference<Object> result = new AtomicReference<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                result.set(call.call());
              } catch (Exception e) {
                result.set(e);
              }
            });
    thread.start();
    thread.join();
    if (result.get() instanceof Exception) throw (Exception) result.get();
    return (Boolean) result.get();
  }

  static void mutex(CuratorFramework a, CuratorFramework b) throws Exception {
    InterProcessMutex mine = new InterProcessMutex(a, "/locks/mutex");
    InterProcessMutex other = new InterProcessMutex(b, "/locks/mutex");
    expect(mine.acquire(10, TimeUnit.SECONDS), "nobody has it");
    expect(mine.acquire(10, TimeUnit.SECONDS), "it is reentrant");
    expect(!other.acquire(300, TimeUnit.MILLISECONDS), "A has it");
    expect(mine.getParticipantNodes().size() == 1, "whoever gave up has gone");
    CountDownLatch got = new CountDownLatch(1);
    Thread waiter =
        new Thread(
            () -> {
              try {
                other.acquire();
                got.countDown();
                other.release();
              } catch (Exception e) {
                expect(false, e.toString());
              }
            });
    waiter.start();
    expect(!got.await(300, TimeUnit.MILLISECONDS), "B has to wait");
    mine.release();
    expect(!got.await(300, TimeUnit.MILLISECONDS), "it was taken twice");
    mine.release();
    expect(got.await(10, TimeUnit.SECONDS), "B gets it");
    waiter.join();
    expect(!mine.isOwnedByCurrentThread(), "A has it no more");
  }

  static void semaphore(CuratorFramework a, CuratorFramework b) throws Exception {
    InterProcessSemaphoreV2 one = new InterProcessSemaphoreV2(a, "/locks/semaphore", 2);
    InterProcessSemaphoreV2 other = new InterProcessSemaphoreV2(b, "/locks/semaphore", 2);
    Lease first = one.acquire(10, TimeUnit.SECONDS);
    Lease second = other.acquire(10, TimeUnit.SECONDS);
    expect(first != null && second != null, "two leases");
    expect(one.acquire(300, TimeUnit.MILLISECONDS) == null, "no third one");
    expect(one.getParticipantNodes().size() == 2, "two nodes");
    second.close();
    Lease third = one.acquire(10, TimeUnit.SECONDS);
    expect(third != null, "one was given back");
    one.returnLease(third);
    one.returnLease(first);
  }

  static void readWrite(CuratorFramework a, CuratorFramework b) throws Exception {
    InterProcessReadWriteLock one = new InterProcessReadWriteLock(a, "/locks/rw");
    InterProcessReadWriteLock other = new InterProcessReadWriteLock(b, "/locks/rw");
    expect(one.readLock().acquire(10, TimeUnit.SECONDS), "a reader");
    expect(other.readLock().acquire(10, TimeUnit.SECONDS), "two readers");
    expect(!one.writeLock().acquire(300, TimeUnit.MILLISECONDS), "a reader does not become a writer");
    other.readLock().release();
    one.readLock().release();
    expect(one.writeLock().acquire(10, TimeUnit.SECONDS), "a writer");
    expect(one.readLock().acquire(10, TimeUnit.SECONDS), "a writer may read");
    expect(!other.readLock().acquire(300, TimeUnit.MILLISECONDS), "no other reads");
    one.writeLock().release();
    expect(other.readLock().acquire(10, TimeUnit.SECONDS), "the writer has become a reader");
    expect(!inOtherThread(() -> other.writeLock().acquire(300, TimeUnit.MILLISECONDS)), "readers are there");
    other.readLock().release();
    one.readLock().release();
  }

  /** CURATOR-621, as it is up to 5.4: the story curator-downgrade. Both have the lock, one to read, one to write. */
  static void downgrade(CuratorFramework a, CuratorFramework b) throws Exception {
    InterProcessReadWriteLock one = new InterProcessReadWriteLock(a, "/locks/downgrade");
    InterProcessReadWriteLock other = new InterProcessReadWriteLock(b, "/locks/downgrade");
    expect(one.writeLock().acquire(10, TimeUnit.SECONDS), "a writer");
    CountDownLatch writes = new CountDownLatch(1);
    Thread waiter =
        new Thread(
            () -> {
              try {
                other.writeLock().acquire();
                writes.countDown();
                other.writeLock().release();
              } catch (Exception e) {
                expect(false, e.toString());
              }
            });
    waiter.start();
    while (one.writeLock().getParticipantNodes().size() < 2) Thread.sleep(10);
    expect(one.readLock().acquire(10, TimeUnit.SECONDS), "the writer reads");
    one.writeLock().release();
    expect(one.readLock().isOwnedByCurrentThread(), "it is a reader now");
    expect(writes.await(10, TimeUnit.SECONDS), "the writer that waited comes in beside it");
    waiter.join();
    one.readLock().release();
  }

  /** A connection that is cut for a moment: the session, and the lock, live on. */
  static void cutShortly(Cable cable, CuratorFramework a, CuratorFramework b) throws Exception {
    InterProcessMutex mine = new InterProcessMutex(b, "/locks/short");
    expect(mine.acquire(10, TimeUnit.SECONDS), "nobody has it");
    long session = b.getZookeeperClient().getZooKeeper().getSessionId();
    CountDownLatch suspended = new CountDownLatch(1);
    CountDownLatch reconnected = new CountDownLatch(1);
    b.getConnectionStateListenable()
        .addListener(
            (client, state) -> {
              if (state == ConnectionState.SUSPENDED) suspended.countDown();
              if (state == ConnectionState.RECONNECTED) reconnected.countDown();
            });
    cable.cut();
    cable.mend();
    expect(suspended.await(10, TimeUnit.SECONDS), "B hears that its connection is gone");
    expect(reconnected.await(10, TimeUnit.SECONDS), "and that it is back");
    expect(b.getZookeeperClient().getZooKeeper().getSessionId() == session, "with the same session");
    expect(!new InterProcessMutex(a, "/locks/short").acquire(300, TimeUnit.MILLISECONDS), "B has its lock still");
    mine.release();
  }

  /** One that is cut for longer than the session lasts. */
  static long cutForLong(Cable cable, CuratorFramework a, CuratorFramework b) throws Exception {
    InterProcessMutex mine = new InterProcessMutex(b, "/locks/long");
    InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(b, "/locks/long-semaphore", 1);
    InterProcessReadWriteLock rw = new InterProcessReadWriteLock(b, "/locks/long-rw");
    expect(mine.acquire(10, TimeUnit.SECONDS), "nobody has it");
    expect(semaphore.acquire(10, TimeUnit.SECONDS) != null, "nobody has a lease");
    expect(rw.writeLock().acquire(10, TimeUnit.SECONDS), "nobody writes");
    CountDownLatch lost = new CountDownLatch(1);
    b.getConnectionStateListenable()
        .addListener(
            (client, state) -> {
              if (state == ConnectionState.LOST) lost.countDown();
            });
    cable.cut();
    long begin = System.nanoTime();
    expect(new InterProcessMutex(a, "/locks/long").acquire(20, TimeUnit.SECONDS), "A gets what B had");
    long took = (System.nanoTime() - begin) / 1_000_000;
    // The last that was heard of B is a ping of a third of its timeout before, at most.
    expect(took >= SESSION_MS * 2 / 3 - TICK_MS, "after " + took + " ms only");
    expect(took <= SESSION_MS + TICK_MS + SLACK_MS, "after " + took + " ms");
    expect(
        new InterProcessSemaphoreV2(a, "/locks/long-semaphore", 1).acquire(10, TimeUnit.SECONDS) != null,
        "and the lease");
    expect(new InterProcessReadWriteLock(a, "/locks/long-rw").readLock().acquire(10, TimeUnit.SECONDS), "and reads");
    expect(lost.await(20, TimeUnit.SECONDS), "B knows that its session is lost");
    cable.mend();
    expect(b.blockUntilConnected(20, TimeUnit.SECONDS), "B is back");
    expect(!new InterProcessMutex(b, "/locks/long").acquire(300, TimeUnit.MILLISECONDS), "and A has the lock");
    return took;
  }

  public static void main(String[] arguments) throws Exception {
    int port = Integer.parseInt(arguments[0]);
    try (Cable cable = new Cable(port)) {
      CuratorFramework a = connect(port);
      CuratorFramework b = connect(cable.port());
      mutex(a, b);
      semaphore(a, b);
      readWrite(a, b);
      downgrade(a, b);
      cutShortly(cable, a, b);
      long took = cutForLong(cable, a, b);
      System.out.println("Curator: what a cut client had is free after " + took + " ms; all else agrees");
      System.exit(0);
    }
  }
}
