import java.lang.management.ManagementFactory;
import java.util.Arrays;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.DynamicMBean;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.ObjectName;

/**
 * Registers a bean like that of a Minecraft server with enable-jmx-monitoring=true: tickTimes is a ring of 100 durations in nanoseconds,
 * averageTickTime their mean in milliseconds. Ticks 1 to 100 took 1 to 100 ms. With the argument "young" only 10 ticks have run, with
 * "none" there is no bean. Runs until its standard input is closed.
 */
public final class TickServer implements DynamicMBean {
    private final long[] tickTimes = new long[100];

    private TickServer(int ticks) {
        for (int tick = 0; tick < ticks; tick++) tickTimes[tick] = (tick + 1) * 1_000_000L;
    }

    @Override
    public Object getAttribute(String name) {
        return name.equals("tickTimes") ? tickTimes : (Object) (float) (Arrays.stream(tickTimes).average().orElse(0) / 1e6);
    }

    @Override
    public AttributeList getAttributes(String[] names) {
        AttributeList list = new AttributeList();
        for (String name : names) list.add(new Attribute(name, getAttribute(name)));
        return list;
    }

    @Override
    public void setAttribute(Attribute attribute) {}

    @Override
    public AttributeList setAttributes(AttributeList attributes) {
        return new AttributeList();
    }

    @Override
    public Object invoke(String action, Object[] parameters, String[] signature) {
        return null;
    }

    @Override
    public MBeanInfo getMBeanInfo() {
        MBeanAttributeInfo[] attributes = {
            new MBeanAttributeInfo("averageTickTime", "float", "Average tick time (ms)", true, false, false),
            new MBeanAttributeInfo("tickTimes", "[J", "Tick times (ns)", true, false, false),
        };
        return new MBeanInfo(TickServer.class.getName(), "", attributes, null, null, null);
    }

    public static void main(String[] args) throws Exception {
        if (!args[0].equals("none")) {
            TickServer bean = new TickServer(args[0].equals("young") ? 10 : 100);
            ManagementFactory.getPlatformMBeanServer().registerMBean(bean, new ObjectName("net.minecraft.server:type=Server"));
        }
        System.gc();
        System.out.println("ready");
        while (System.in.read() >= 0) {}
    }
}
